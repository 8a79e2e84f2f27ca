/** Makes the folders of what was dropped, each once. */
import { type Holdfast, HoldfastError } from "@holdfast/client";
import { answerOf } from "../api/client.ts";

export interface Folders {
  /** @returns the folder at `path` below `parent`; null for the space's root */
  ensure(spaceId: string, parent: string | null, path: string): Promise<string | null>;
}

export function createFolders(holdfast: Holdfast): Folders {
  /** By the folder above and the name; files of one folder wait for the same request. */
  const known = new Map<string, Promise<string>>();
  const child = (spaceId: string, parent: string | null, name: string): Promise<string> => {
    const key = `${spaceId}/${parent ?? ""}/${name}`;
    const made = known.get(key) ?? findOrMake(holdfast, { spaceId, parent, name });
    known.set(key, made);
    // A folder may be deleted later, and a request may fail: the next file asks anew.
    void made.catch(() => undefined).finally(() => setTimeout(() => known.delete(key), FRESH_MS));
    return made;
  };
  return {
    async ensure(spaceId, parent, path) {
      let at = parent;
      for (const name of path.split("/").filter((part) => part !== "")) at = await child(spaceId, at, name);
      return at;
    },
  };
}

const FRESH_MS = 10_000;

interface Wanted {
  readonly spaceId: string;
  readonly parent: string | null;
  readonly name: string;
}

async function findOrMake(holdfast: Holdfast, wanted: Wanted): Promise<string> {
  const found = await find(holdfast, wanted);
  if (found !== undefined) return found;
  const body = { name: wanted.name, space_id: wanted.spaceId, parent_folder_id: wanted.parent };
  try {
    const { id } = await answerOf(holdfast.api.POST("/v1/folders", { body }));
    return id;
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== "already_exists") throw error;
    // Somebody else made it meanwhile.
    const made = await find(holdfast, wanted);
    if (made === undefined) throw error;
    return made;
  }
}

async function find(holdfast: Holdfast, { spaceId, parent, name }: Wanted): Promise<string | undefined> {
  const options = parent === null ? {} : { parentFolderId: parent };
  for await (const folder of holdfast.folders(spaceId, { ...options, pageSize: 100 }))
    if (folder.name === name && folder.parent_folder_id === parent) return folder.id;
  return undefined;
}
