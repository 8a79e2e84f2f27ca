/** The files of what was dropped or chosen, with the folders that they were in. */

export interface Chosen {
  readonly file: File;
  /** The names of its folders, joined by `/`; empty: none. */
  readonly folder: string;
}

export interface Gathered {
  readonly files: readonly Chosen[];
  /** Files that the system made for itself, which nobody means to upload. */
  readonly skipped: number;
}

/** More than one drop may hold: a whole disk, by a slip. */
export const MOST_FILES = 10_000;

const SYSTEM_FILES = new Set(["thumbs.db", "desktop.ini"]);
const isHidden = (name: string): boolean => name.startsWith(".") || SYSTEM_FILES.has(name.toLowerCase());

/** Must be called while the event is handled: later its items are gone. */
export async function gatherDropped(items: DataTransferItemList): Promise<Gathered> {
  const entries = [...items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  const chosen: Chosen[] = [];
  let skipped = 0;
  const visit = async (entry: FileSystemEntry, folder: string): Promise<void> => {
    if (chosen.length > MOST_FILES) return;
    if (isHidden(entry.name)) skipped += 1;
    else if (entry.isFile) chosen.push({ file: await fileOf(entry as FileSystemFileEntry), folder });
    else {
      const inside = folder === "" ? entry.name : `${folder}/${entry.name}`;
      for (const child of await childrenOf(entry as FileSystemDirectoryEntry)) await visit(child, inside);
    }
  };
  for (const entry of entries) await visit(entry, "");
  return { files: chosen, skipped };
}

/** Of a field for files, or for a whole folder. */
export function gatherChosen(files: Iterable<File>): Gathered {
  const all = [...files];
  const kept = all.filter(({ name, webkitRelativePath: path }) => ![name, ...path.split("/")].some(isHidden));
  return {
    files: kept.map((file) => ({ file, folder: file.webkitRelativePath.split("/").slice(0, -1).join("/") })),
    skipped: all.length - kept.length,
  };
}

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => entry.file(resolve, reject));

async function childrenOf(entry: FileSystemDirectoryEntry): Promise<readonly FileSystemEntry[]> {
  const reader = entry.createReader();
  const children: FileSystemEntry[] = [];
  for (;;) {
    // A reader gives some at a time, and nothing when there are no more.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) return children;
    children.push(...some);
  }
}
