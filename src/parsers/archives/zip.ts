/** The parser of ZIP archives: each file that some parser can read becomes a section. */

import { DomainError } from "../../domain/errors.ts";
import { IWORK_PARTS } from "../file-kind.ts";
import type { OpenSections } from "../nested.ts";
import { partName, readInput, type Parser } from "../parser.ts";
import { createUnitWriter } from "../unit-writer.ts";
import { openZip } from "./zip-archive.ts";

/** Files that operating systems add to archives for themselves. */
const SYSTEM_FILE = /(?:^|\/)(?:__MACOSX\/|\.|Thumbs\.db$|desktop\.ini$)/i;

export function zipWith(openSections: OpenSections): Parser {
  return {
    name: "zip",
    runsIn: "child",
    async parse(input) {
      const archive = await openZip(await readInput(input));
      if (archive.names.some((name) => IWORK_PARTS.includes(name)))
        throw new DomainError("unsupported_file_type", "Pages, Keynote and Numbers files are not supported.");
      const writer = createUnitWriter();
      const sections = openSections(input, writer, 1);
      for (const name of archive.names.filter((path) => !SYSTEM_FILE.test(path))) {
        const bytes = await archive.read(name);
        if (bytes !== undefined) await sections.add({ name, bytes }, partName(name));
      }
      const unopened = sections.warnings.some((warning) => warning.code === "too_deep");
      if (!unopened && writer.units.every((unit) => unit.type === "heading"))
        throw new DomainError("no_text", "The archive contains no text.");
      return {
        parser_name: "zip",
        units: writer.units,
        page_count: null,
        metadata: {},
        warnings: sections.warnings,
      };
    },
  };
}
