/** The contract of a backup's manifest and index, which hold no keys, names of people or secrets. */
import { z } from "zod";

/** Raised with each change of the form; this version reads no other. */
export const MANIFEST_FORMAT = 1;
const Count = z.int().min(0);
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const Part = z.strictObject({ bytes: Count, sha256: Sha256 });
const Rows = z.record(z.string(), Count);

export const Manifest = z.strictObject({
  format: z.literal(MANIFEST_FORMAT),
  /** The time of the snapshot that the dump and the counts are of, in ISO 8601. */
  made_at: z.iso.datetime(),
  database: z.strictObject({
    dump: Part,
    /** In Postgres's own numbers: 180006 is 18.6. */
    server_version: Count,
    /** Major version of the pg_dump that wrote it. */
    pg_dump: Count,
    migrations: z.array(z.string()),
    /** The number of rows in each table. */
    rows: Rows,
    organizations: z.array(z.strictObject({ id: z.uuid(), is_deleted: z.boolean(), rows: Rows })),
  }),
  objects: z.strictObject({ index: Part, count: Count, bytes: Count }),
});

export type Manifest = z.infer<typeof Manifest>;
export type PartFile = z.infer<typeof Part>;

/** `bytes` and `sha256` describe the object as it is stored, encrypted. */
export const IndexedObject = z.strictObject({ name: z.string(), bytes: Count, sha256: Sha256 });
export type IndexedObject = z.infer<typeof IndexedObject>;
