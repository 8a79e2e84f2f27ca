/** Reads what DOCX and PPTX share: parts of the package, references between them, and metadata. */

import { posix } from "node:path";
import { DomainError } from "../../domain/errors.ts";
import type { ExtractedMetadata } from "../../domain/text-unit.ts";
import {
  attribute,
  childAt,
  childrenNamed,
  parseMarkup,
  elementText,
  type MarkupElement,
} from "../web/markup-tree.ts";
import { described, isoDate } from "../metadata.ts";
import { decodeText } from "../text/plain.ts";
import { openZip, type ZipArchive } from "../archives/zip-archive.ts";

export interface PartReference {
  /** The last segment of the relation's type: `slide`, `comments`, `header`. */
  readonly kind: string;
  /** A path in the package, or an address outside of it if `external`. */
  readonly target: string;
  readonly external: boolean;
}

export interface OfficePackage {
  readonly main: string;
  /** The root element of a part; undefined if there is no such part. */
  part(path: string | undefined): Promise<MarkupElement | undefined>;
  /** The references of a part by id, in order. */
  references(path: string): Promise<ReadonlyMap<string, PartReference>>;
  metadata(): Promise<ExtractedMetadata>;
}

/** Throws `corrupt` if there is no main part, and as `openZip` does. */
export async function openPackage(bytes: Buffer): Promise<OfficePackage> {
  const zip = await openZip(bytes);
  const main = referenceOfKind(await referencesOf(zip, ""), "officeDocument")?.target;
  if (main === undefined || !zip.names.includes(main))
    throw new DomainError("corrupt", "The file is not a readable Office document.");
  return {
    main,
    part: (path) => readXml(zip, path),
    references: (path) => referencesOf(zip, path),
    metadata: () => coreMetadata(zip),
  };
}

export function referenceOfKind(
  references: ReadonlyMap<string, PartReference>,
  kind: string,
): PartReference | undefined {
  return [...references.values()].find((reference) => reference.kind === kind);
}

/** The root element of an XML file in an archive; undefined if there is no such file. */
export async function readXml(zip: ZipArchive, path: string | undefined): Promise<MarkupElement | undefined> {
  const bytes = path === undefined ? undefined : await zip.read(path);
  if (bytes === undefined) return undefined;
  const root = parseMarkup(decodeText(bytes), "xml");
  return root.children.find(
    (child): child is MarkupElement => typeof child !== "string" && !child.name.startsWith("?"),
  );
}

async function referencesOf(zip: ZipArchive, path: string): Promise<Map<string, PartReference>> {
  const folder = posix.dirname(path);
  const list = await readXml(zip, posix.join(folder, "_rels", `${posix.basename(path)}.rels`));
  return new Map(
    childrenNamed(list, "Relationship").map((relation) => {
      const target = attribute(relation, "Target") ?? "";
      const external = attribute(relation, "TargetMode") === "External";
      const kind = attribute(relation, "Type") ?? "";
      const inside = target.startsWith("/") ? target.slice(1) : posix.join(folder, target);
      return [
        attribute(relation, "Id") ?? "",
        { kind: kind.slice(kind.lastIndexOf("/") + 1), target: external ? target : inside, external },
      ];
    }),
  );
}

async function coreMetadata(zip: ZipArchive): Promise<ExtractedMetadata> {
  const core = await readXml(
    zip,
    referenceOfKind(await referencesOf(zip, ""), "core-properties")?.target ?? "docProps/core.xml",
  );
  const value = (name: string): string => elementText(childAt(core, name));
  return described({
    title: value("title"),
    author: value("creator"),
    language: value("language"),
    created_at: isoDate(value("created")),
    modified_at: isoDate(value("modified")),
  });
}
