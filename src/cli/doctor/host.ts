/** Checks of this machine and the object store: Node, disk, OCR's data, a probe object. */
import { randomUUID } from "node:crypto";
import { access } from "node:fs/promises";
import { dirname } from "node:path";
import { buffer } from "node:stream/consumers";
import type { Config } from "../../config/config.ts";
import { DomainError } from "../../domain/errors.ts";
import { missingOcrData } from "../../parsers/pdf/ocr-data.ts";
import { type DiskReading, watchDisk } from "../../storage/disk-space.ts";
import { type ObjectStore, objectName } from "../../storage/object-store.ts";
import { storeKind } from "../../storage/open-store.ts";
import { type Check, type Finding, fail, ok, warn } from "./check.ts";

const MIN_NODE = 24;
const GIB = 2 ** 30;
/** The same as in the alert HoldfastDiskFillsUp. */
const DISK_WARNS_FLOORS = 3;
const STORE_TIMEOUT_MS = 20_000;
const PROBE = Buffer.from("holdfast doctor");

export function nodeCheck(version = process.versions.node): Check {
  return {
    name: "Node",
    remedy: "use Node 24 or newer",
    run: async () =>
      Number.parseInt(version, 10) >= MIN_NODE
        ? ok(version)
        : fail(
            `${version} is older than ${MIN_NODE}`,
            "use Node 24 or newer; `npm run` uses the one that npm ci installs",
          ),
  };
}

export function storeCheck(config: Config, open: () => ObjectStore | Promise<ObjectStore>): Check {
  const isFolder = storeKind(config.storage) === "directory";
  const remedy = isFolder
    ? `make ${config.storage.directory} readable and writable for the processes' user, ` +
      "and check that its disk is mounted and not full"
    : "check that the bucket exists, and that the processes can create, read, list and delete objects " +
      "in it (docs/storage.md)";
  return {
    name: "object store",
    remedy,
    timeoutMs: STORE_TIMEOUT_MS,
    run: async (signal) =>
      isFolder && !(await exists(config.storage.directory))
        ? noFolder(config.storage.directory)
        : probe(await open(), signal),
  };
}

/** Checked first, because a probe would make the folder, with the rights of whoever runs the command. */
function noFolder(folder: string): Finding {
  return warn(
    `${folder} does not exist yet`,
    "the first upload creates it; if there were uploads before, check that its disk is mounted",
  );
}

/** The object belongs to an organization that does not exist, and is deleted again in any case. */
async function probe(store: ObjectStore, signal: AbortSignal): Promise<Finding> {
  await store.prove?.();
  const name = objectName(randomUUID(), randomUUID());
  const put = (): Promise<unknown> => store.put(name, one(PROBE), { ifAbsent: true, signal });
  try {
    await put();
    if (!PROBE.equals(await buffer(await store.get(name, { signal }))))
      return fail(
        "read back different data than was written",
        "check proxies and gateways between the processes and the store",
      );
    const second = await put().then(
      () => undefined,
      (error: unknown) => error,
    );
    if (!(second instanceof DomainError && second.code === "conflict"))
      return fail(
        "the store accepted a second object with the same name",
        "use a store with conditional writes (If-None-Match)",
      );
    const listed = await store.list(name, { limit: 1 });
    if (listed.length !== 1)
      return fail(
        "a written object is missing from the listing",
        "use a store whose listings are consistent",
      );
  } finally {
    await store.delete(name);
  }
  return ok("written once, read back, listed and deleted");
}

async function* one(piece: Buffer): AsyncGenerator<Buffer> {
  yield Buffer.from(piece);
}

/** @param folders the folders that the processes write to, by name, as `watchDisk` takes them. */
export function diskCheck(folders: Readonly<Record<string, string>>, floorBytes: number): Check {
  return {
    name: "disk",
    remedy: `see that ${Object.values(folders).join(" and ")} can be read`,
    async run() {
      const nearest = await Promise.all(
        Object.entries(folders).map(async ([name, folder]) => [name, await nearestFolder(folder)]),
      );
      return judgeDisks(
        folders,
        await watchDisk({
          folders: Object.fromEntries(nearest) as Record<string, string>,
          floorBytes,
        }).read(),
      );
    },
  };
}

/** Reports the folder with the least room above its floor, below which uploads are refused. */
export function judgeDisks(
  folders: Readonly<Record<string, string>>,
  readings: readonly DiskReading[],
): Finding {
  const silent = Object.entries(folders).find(([name]) => !readings.some((reading) => reading.name === name));
  if (silent !== undefined)
    return fail(`the file system of ${silent[1]} does not answer`, `see that ${silent[1]} can be read`);
  const { name, freeBytes, floorBytes } = readings.toSorted(
    (a, b) =>
      a.freeBytes - DISK_WARNS_FLOORS * a.floorBytes - (b.freeBytes - DISK_WARNS_FLOORS * b.floorBytes),
  )[0]!;
  const seen =
    `${(freeBytes / GIB).toFixed(1)} GiB free under ${folders[name]}; ` +
    `uploads stop at ${(floorBytes / GIB).toFixed(1)} (MIN_FREE_DISK_BYTES)`;
  if (freeBytes < floorBytes) return fail(seen, "free up disk space: uploads are answered 507 until then");
  return freeBytes < DISK_WARNS_FLOORS * floorBytes
    ? warn(seen, "free up disk space, or move it to a larger disk")
    : ok(seen);
}

/** A folder that does not exist yet will be on the disk of its nearest existing parent. */
async function nearestFolder(folder: string): Promise<string> {
  return (await exists(folder)) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder));
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

export function ocrCheck({ ocr }: Config): Check {
  return {
    name: "OCR data",
    remedy: `see that ${ocr.dataFolder} can be read`,
    async run() {
      const missing = await missingOcrData(ocr.languages, ocr.dataFolder);
      if (missing.length === 0) return ok(ocr.languages.join(", "));
      return fail(
        `there is none for ${missing.join(", ")}`,
        `npm install ${missing.map((language) => `@tesseract.js-data/${language}`).join(" ")}, ` +
          "or remove it from OCR_LANGUAGES",
      );
    },
  };
}
