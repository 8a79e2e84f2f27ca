/** Paths of files in a space: which are valid, and the object names that address them. */
import { UUID_PATTERN } from "./ids.ts";

export const MAX_PATH_BYTES = 1_024;
const MAX_NAME_BYTES = 255;

const DOCUMENT_PLACE = new RegExp(`^documents/(${UUID_PATTERN})/original/([^/]+)$`);
const DATA_OBJECT_NAME = new RegExp(`^spaces/${UUID_PATTERN}/data/(.+)$`);
const DOCUMENTS = "documents/";
const DATA = "data/";

const encoder = new TextEncoder();
const bytesOf = (text: string): number => encoder.encode(text).byteLength;

/** @param path in Unicode NFC. @returns why it is not valid; null if it is. */
export function pathFault(path: string): string | null {
  if (bytesOf(path) > MAX_PATH_BYTES) return `a path must have at most ${MAX_PATH_BYTES} bytes`;
  if (path.startsWith("/")) return "a path must not start with a slash";
  if (path.includes("\\")) return "a path must not contain a backslash";
  // oxlint-disable-next-line no-control-regex -- control characters are what is refused
  if (/[\u0000-\u001f\u007f-\u009f]/.test(path)) return "a path must not contain control characters";
  const parts = path.split("/");
  if (parts.includes("") || parts.includes(".") || parts.includes(".."))
    return "the parts of a path must not be empty, . or ..";
  return parts.some((part) => bytesOf(part) > MAX_NAME_BYTES)
    ? `each part of a path must have at most ${MAX_NAME_BYTES} bytes`
    : null;
}

/** @returns why it is no valid path nor object name; null if it is. Only an object name's path is bounded. */
export function addressFault(address: string): string | null {
  return pathFault(DATA_OBJECT_NAME.exec(address)?.[1] ?? address);
}

/** The path of `name` in `folder`; `''` is the root. */
export function joinPath(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

export function fileNameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/**
 * The object name of a file in listings: where its own document says that it is if it lies there, else one
 * under `data/`. A file that lies where another document says so cannot be taken for that document's.
 */
export function objectNameOf(spaceId: string, path: string, documentId: string | null): string {
  const isInOwnPlace = documentId !== null && DOCUMENT_PLACE.exec(path)?.[1] === documentId;
  return isInOwnPlace ? `spaces/${spaceId}/${path}` : dataObjectName(spaceId, path);
}

/** `spaces/<space_id>/data/<path>`, which addresses any file. */
export function dataObjectName(spaceId: string, path: string): string {
  return `spaces/${spaceId}/data/${path}`;
}

/**
 * The path that an address means: of an object name of this space, what follows `spaces/<space_id>/data/`, or
 * `spaces/<space_id>/` if `documents/` does; else the address itself. A file at a path that looks like an
 * object name has an object name of its own, and no other address, so that none means two files.
 */
export function pathOf(spaceId: string, address: string): string {
  const root = `spaces/${spaceId}/`;
  if (!address.startsWith(root)) return address;
  const inSpace = address.slice(root.length);
  if (inSpace.startsWith(DATA)) return inSpace.slice(DATA.length);
  return inSpace.startsWith(DOCUMENTS) ? inSpace : address;
}

/**
 * The beginning of the paths of all files whose object name begins with `prefix`, or whose path does. It
 * counts as one of an object name from the space's id on; up to what follows that, it begins them all.
 */
export function pathPrefixOf(spaceId: string, prefix: string): string {
  const root = `spaces/${spaceId}`;
  if (prefix.startsWith(root)) {
    const inSpace = prefix.slice(root.length);
    if (`/${DATA}`.startsWith(inSpace)) return "";
    if (`/${DOCUMENTS}`.startsWith(inSpace)) return DOCUMENTS;
  }
  return pathOf(spaceId, prefix);
}

/** {@link pathOf} a folder, which may also be given without the slash at its end; `''` is the root. */
export function folderOf(spaceId: string, address: string): string {
  return address === "" ? "" : pathOf(spaceId, `${address}/`).slice(0, -1);
}

/** What an address in a space may refer to. */
export interface FileAddress {
  readonly spaceId: string;
  readonly path: string;
  /** The document whose `file_path` the address is. */
  readonly document: { readonly id: string; readonly name: string } | null;
}

/** Reads a path, or an object name of a file in the space. */
export function readAddress(spaceId: string, address: string): FileAddress {
  const path = pathOf(spaceId, address);
  const isOfDocument = address === `spaces/${spaceId}/${path}`;
  const [, id, name] = (isOfDocument ? DOCUMENT_PLACE.exec(path) : null) ?? [];
  return { spaceId, path, document: id === undefined || name === undefined ? null : { id, name } };
}
