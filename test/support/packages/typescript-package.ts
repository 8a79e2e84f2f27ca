/** Packs clients/typescript, and installs the tarball in an empty project. */
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const ROOT = join(import.meta.dirname, "../../..");
const PACKAGE = join(ROOT, "clients/typescript");
/** Long, because the first run on a machine fetches what the project depends on. */
const INSTALL_MS = 3 * 60_000;
const run = promisify(execFile);

export interface EmptyProject {
  readonly folder: string;
  /** The files of the tarball. */
  readonly packed: readonly string[];
  /** Compiles programs to JavaScript. @returns the compiler's lines of errors. */
  compile(compiler: "5" | "7", options: Readonly<Record<string, unknown>>): Promise<string[]>;
}

/** @param folder an empty one. */
export async function installTypescriptPackage(folder: string): Promise<EmptyProject> {
  const pack = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: PACKAGE });
  // What `prepack` prints comes first.
  const described = JSON.parse(pack.stdout.slice(pack.stdout.search(/^[[{]$/m))) as unknown;
  const [packed] = Object.values(
    described as Record<string, { filename: string; files: { path: string }[] }>,
  );
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const { version } = createRequire(import.meta.url)("@types/node/package.json") as { version: string };
  const quietly = ["--prefer-offline", "--no-audit", "--no-fund"];
  const wanted = [
    join(folder, packed!.filename.replace("@", "").replace("/", "-")),
    `@types/node@${version}`,
  ];
  await run("npm", ["install", ...quietly, ...wanted], { cwd: folder, timeout: INSTALL_MS });
  return {
    folder,
    packed: packed!.files.map(({ path }) => path),
    async compile(compiler, options) {
      const config = join(folder, "tsconfig.json");
      const compilerOptions = { strict: true, skipLibCheck: false, module: "nodenext", ...options };
      await writeFile(config, JSON.stringify({ compilerOptions, include: ["src"] }));
      const from = createRequire(compiler === "5" ? join(PACKAGE, "package.json") : import.meta.url);
      const tsc = join(dirname(from.resolve("typescript/package.json")), "bin/tsc");
      try {
        await run(process.execPath, [tsc, "-p", config], { cwd: folder });
        return [];
      } catch (error) {
        const { stdout = "" } = error as { stdout?: string };
        if (stdout === "") throw error;
        return stdout.split("\n").filter((line) => line.includes("error TS"));
      }
    },
  };
}

/** Writes the project's sources, by their names. */
export async function writeSources(folder: string, sources: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(join(folder, "src"), { recursive: true });
  for (const [name, text] of Object.entries(sources)) await writeFile(join(folder, "src", name), text);
}
