/** Contract of raw files, which are addressed by their path in a space. */
import { z } from "zod";
import { field } from "../field.ts";
import { addressFault, MAX_PATH_BYTES, pathFault } from "../../domain/paths.ts";
import { envelope, FilePart, pageQuery, PARTS_PER_PAGE, StrictPart, Timestamp } from "../fields.ts";
import { DocumentId } from "../ids.ts";
import { PATH, PATH_OR_PREFIX, PATH_OR_ROOT } from "../requests/patterns.ts";

interface PathKind {
  /** True if `""` is allowed, which is the root of the space. */
  readonly allowsRoot?: boolean;
  /** What becomes of one slash at the end: kept if it means "all below"; by default it is a fault. */
  readonly trailingSlash?: "kept" | "dropped";
  /** Says what is wrong with a path, or null; by default what is wrong with any path. */
  readonly fault?: (path: string) => string | null;
}

/** Checked before the path is normalized to NFC, whose time is quadratic in a run of accents. */
const MAX_GIVEN_CHARACTERS = 4 * MAX_PATH_BYTES;
/** A path behind `spaces/<space_id>/data/`. */
const MAX_PREFIX_CHARACTERS = MAX_PATH_BYTES + 49;

/** A path, checked and normalized to NFC. */
function pathSchema({ allowsRoot = false, trailingSlash, fault: faultOf = pathFault }: PathKind = {}) {
  return z
    .string()
    .max(MAX_GIVEN_CHARACTERS)
    .transform((given, context) => {
      const path = given.normalize("NFC");
      const hasSlash = trailingSlash !== undefined && path.length > 1 && path.endsWith("/");
      const bare = hasSlash ? path.slice(0, -1) : path;
      const isRoot = allowsRoot && (bare === "" || (trailingSlash !== undefined && bare === "/"));
      const fault = isRoot ? null : faultOf(bare);
      if (fault !== null) context.issues.push({ code: "custom", input: given, message: fault });
      return isRoot ? "" : hasSlash && trailingSlash === "kept" ? path : bare;
    })
    .meta({ pattern: allowsRoot ? PATH_OR_ROOT : trailingSlash === undefined ? PATH : PATH_OR_PREFIX });
}

const PATH_RULES =
  `Names joined by \`/\`, at most ${MAX_PATH_BYTES} bytes of UTF-8 and 255 for each name, without backslashes, ` +
  "control characters and names that are empty, `.` or `..`";

/** The target folder of an upload. `""` is the root; one trailing slash is dropped. */
export const UploadFolderPath = pathSchema({
  allowsRoot: true,
  trailingSlash: "dropped",
  fault: addressFault,
}).meta({
  description: `Folder in the space, or its object name; empty for the root. ${PATH_RULES}`,
  example: "reports/2026",
});

export const RawFileUpload = z
  .object({ file: FilePart, path: UploadFolderPath, strict: StrictPart })
  .meta({ id: "RawFileUpload" });

const objectName = field.text(
  "An address of the file: spaces/<space_id>/data/<path>/<filename>",
  "spaces/01900000-0000-7000-8000-000000000010/data/reports/2026/q1.pdf",
);

export const RawFileUploaded = z.object({ object_name: objectName }).meta({ id: "RawFileUploaded" });

const RawFile = z
  .object({
    object_name: objectName,
    path: field.text("Its path in the space", "reports/2026/q1.pdf"),
    name: field.text("The last part of the path", "q1.pdf"),
    size: field.nullableInteger("Bytes; null for an empty folder", 48_213),
    content_type: field.nullableText(
      "The media type, by the file's first bytes and name; null for an empty folder",
      "application/pdf",
    ),
    sha256: field.nullableText(
      "SHA-256 of the content, in hexadecimal; null for an empty folder",
      "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    ),
    document_id: DocumentId.nullable().describe(
      "The document that is made of it; null: there is none any more, or it is a folder",
    ),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: "RawFile" });

export const RawFilePage = envelope(RawFile, "RawFilePage");

export const RawFileQuery = pageQuery(PARTS_PER_PAGE).extend({
  prefix: z
    .string()
    .max(MAX_PREFIX_CHARACTERS)
    .optional()
    .transform((prefix) => prefix?.normalize("NFC"))
    .meta({
      description:
        "Only files whose path begins with it, or whose object name does: that counts from " +
        "`spaces/<space_id>` on",
      example: "reports/",
    }),
});

/** A file by its path or by any of its object names. */
export const RawFileAddress = z.object({
  path: pathSchema({ fault: addressFault }).meta({
    description: `Path in the space, or an object name of the file. ${PATH_RULES}`,
    example: "reports/2026/q1.pdf",
  }),
});

export const RawFileRename = z
  .object({
    old_path: pathSchema({ trailingSlash: "kept", fault: addressFault }).meta({
      description: `A file, or with \`/\` at its end all that lies below; or an object name of it. ${PATH_RULES}`,
      example: "reports/2026/q1.pdf",
    }),
    new_path: pathSchema({ trailingSlash: "kept", fault: addressFault }).meta({
      description:
        "Where it is moved to, as a path or object name; with `/` at its end if, and only if, `old_path` has one",
      example: "reports/2026/first-quarter.pdf",
    }),
  })
  .refine((paths) => paths.old_path.endsWith("/") === paths.new_path.endsWith("/"), {
    path: ["new_path"],
    message: "either both paths end with a slash or neither does",
  })
  .meta({ id: "RawFileRename" });

export const PathFolderCreate = z
  .object({
    path: pathSchema({ trailingSlash: "dropped", fault: addressFault }).meta({
      description: `The folder's path in the space, or its object name. ${PATH_RULES}`,
      example: "reports/2026",
    }),
  })
  .meta({ id: "PathFolderCreate" });
export const PathFolder = z
  .object({
    path: field.text("The path, without a slash at its end", "reports/2026"),
  })
  .meta({ id: "PathFolder" });
