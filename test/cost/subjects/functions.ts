/**
 * Makes subjects of every exported function of one text. They are found in the sources, so that a new
 * function is measured automatically.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { SOME_SHAPES, TEXT_SHAPES } from "../shapes.ts";
import type { Extent, Subject } from "./subject.ts";

const SOURCES = join(import.meta.dirname, "../../../src");
/** Folders whose functions handle text that somebody else wrote. */
const FOLDERS = [
  "agents",
  "agents/tools",
  "api",
  "api/middleware",
  "api/turns",
  "auth",
  "chunkers",
  "domain",
  "models",
  "outbound",
  "parsers",
  "schema",
  "search",
];

/** Functions whose text is never foreign: this one takes the name of a file of the product. */
const OWN_ARGUMENTS = new Set(["loadWordPiece"]);

/** Functions that are measured by other families, with shapes and lengths of their own. */
const MEASURED_ELSEWHERE = new Set([
  "analyze",
  "analyzeQuery",
  "cutWords",
  "parseQuery",
  "fenceData",
  "firstSyntaxError",
  "parseMarkdown",
]);
const MAX_LENGTH = 65_536;

interface Found {
  readonly path: string;
  readonly name: string;
  readonly takesBytes: boolean;
}

/**
 * Finds functions `f(text: string)` and `f(bytes: Buffer)` whose other parameters are optional. Those that
 * return promises are measured by other families.
 */
export function functionsOfOneText(): Found[] {
  return FOLDERS.flatMap((folder) => readdirSync(join(SOURCES, folder)).map((file) => `${folder}/${file}`))
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"))
    .flatMap((path) =>
      [...readFileSync(join(SOURCES, path), "utf8").matchAll(/^export function (\w+)\(([^)]*)\)/gm)].flatMap(
        ([, name = "", parameters = ""]) => {
          const [first = "", ...others] = parameters
            .split(/,\s*/)
            .filter((parameter) => parameter.trim() !== "");
          const isText = /: string(?: \| undefined)?$/.test(first);
          const takesBytes = /: (?:Buffer|Uint8Array)$/.test(first);
          const isMeasured =
            (isText || takesBytes) &&
            others.every((parameter) => /\?:|=/.test(parameter)) &&
            !OWN_ARGUMENTS.has(name) &&
            !MEASURED_ELSEWHERE.has(name);
          return isMeasured ? [{ path, name, takesBytes }] : [];
        },
      ),
    );
}

export async function functionSubjects(extent: Extent): Promise<Subject[]> {
  return Promise.all(
    functionsOfOneText().map(async ({ path, name, takesBytes }) => {
      const module = (await import(pathToFileURL(join(SOURCES, path)).href)) as Record<
        string,
        (given: unknown) => unknown
      >;
      return {
        name: `${name} of ${path}`,
        shapes: extent === "all" ? TEXT_SHAPES : SOME_SHAPES,
        maxLength: extent === "all" ? Infinity : MAX_LENGTH,
        // Its callers handle whatever it throws.
        endsInItsOwnProcess: true,
        prepare: (text: string) => (takesBytes ? Buffer.from(text) : text),
        run: (given: unknown) => module[name]!(given),
      };
    }),
  );
}
