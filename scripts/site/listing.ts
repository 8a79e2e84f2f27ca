/** Lists the files of a built site for the API, with types and tags, the larger ones also compressed. */
import { createHash } from "node:crypto";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { extname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { type BuiltFile, LISTING } from "../../src/api/site/listing.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".wasm": "application/wasm",
};
const ZIP_FROM_BYTES = 1_500;

/** Writes the list into the folder, and the compressed files beside their originals. */
export async function writeListing(out: string): Promise<void> {
  const files = await filesOf(out);
  const entries = await Promise.all(
    files.map(async (file): Promise<readonly [string, BuiltFile]> => {
      const path = relative(out, file).replaceAll(sep, "/");
      return [path.replace(/^index\.html$|\.html$/, ""), await describe(file, path)];
    }),
  );
  await writeFile(join(out, LISTING), JSON.stringify(Object.fromEntries(entries)));
}

export async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

/** @throws Error for a file of a type that is not served */
async function describe(file: string, path: string): Promise<BuiltFile> {
  const type = TYPES[extname(file)];
  if (type === undefined) throw new Error(`The site has a file of a type that is not served: ${path}`);
  const bytes = await readFile(file);
  const isZipped = bytes.length > ZIP_FROM_BYTES && extname(file) !== ".png";
  if (isZipped)
    await Promise.all([
      promisify(gzip)(bytes, { level: 9 }).then((zipped) => writeFile(`${file}.gz`, zipped)),
      promisify(brotliCompress)(bytes, {
        params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
      }).then((zipped) => writeFile(`${file}.br`, zipped)),
    ]);
  return { type, tag: digest(bytes), isHashed: path.startsWith("assets/"), isZipped };
}

export function digest(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("base64url").slice(0, 12);
}
