/** The only rules of paths in a space: what may be one, and the object names that stand for it. */

export const MAX_PATH_BYTES = 1_024;
const MAX_NAME_BYTES = 255;

const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";
const DOCUMENT_PLACE = new RegExp(`^documents/(${UUID})/original/([^/]+)$`);
const DATA_OBJECT_NAME = new RegExp(`^spaces/${UUID}/data/(.+)$`);

const encoder = new TextEncoder();
const bytesOf = (text: string): number => encoder.encode(text).byteLength;

/** Why a path in NFC cannot be one, or null. */
export function pathFault(path: string): string | null {
  if (bytesOf(path) > MAX_PATH_BYTES) return `a path has at most ${MAX_PATH_BYTES} bytes`;
  if (path.startsWith("/")) return "a path does not begin with a slash";
  if (path.includes("\\")) return "a path holds no backslash";
  // oxlint-disable-next-line no-control-regex -- control characters are what is refused
  if (/[\u0000-\u001f\u007f-\u009f]/.test(path)) return "a path holds no control characters";
  const parts = path.split("/");
  if (parts.includes("") || parts.includes(".") || parts.includes(".."))
    return "the parts of a path are neither empty nor . or ..";
  return parts.some((part) => bytesOf(part) > MAX_NAME_BYTES)
    ? `each part of a path has at most ${MAX_NAME_BYTES} bytes`
    : null;
}

/** Why neither a path nor an object name can be this, or null. The name is longer than its path, which alone is bounded. */
export function addressFault(address: string): string | null {
  return pathFault(DATA_OBJECT_NAME.exec(address)?.[1] ?? address);
}

/** The path of `name` in `folder`, where `''` is the root. */
export function joinPath(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

/** The last part of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The name that a file is listed with: the document's own where it lies at its document's own place, else one below `data`. */
export function objectNameOf(spaceId: string, path: string): string {
  return DOCUMENT_PLACE.test(path) ? `spaces/${spaceId}/${path}` : dataObjectName(spaceId, path);
}

/** `spaces/<space_id>/data/<path>`, which every file may be asked for by. */
export function dataObjectName(spaceId: string, path: string): string {
  return `spaces/${spaceId}/data/${path}`;
}

/** What an address may mean in a space. */
export interface FileAddress {
  readonly spaceId: string;
  /** The address as it is; a file with this very path goes before all others. */
  readonly path: string;
  /** The path that an object name stands for; the address itself where it is none of this space. */
  readonly namedPath: string;
  /** The document whose `file_path` the address is. */
  readonly document: { readonly id: string; readonly name: string } | null;
}

/** Reads a path, or any object name of a file of the space. */
export function readAddress(spaceId: string, path: string): FileAddress {
  const root = `spaces/${spaceId}/`;
  const inSpace = path.startsWith(root) ? path.slice(root.length) : null;
  if (inSpace?.startsWith("data/"))
    return { spaceId, path, namedPath: inSpace.slice("data/".length), document: null };
  const [, id, name] = DOCUMENT_PLACE.exec(inSpace ?? "") ?? [];
  if (inSpace === null || id === undefined || name === undefined)
    return { spaceId, path, namedPath: path, document: null };
  return { spaceId, path, namedPath: inSpace, document: { id, name } };
}
