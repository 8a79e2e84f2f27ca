/** Reads the styles and numberings of a DOCX file: which paragraphs are headings, items, code or quotes. */

import { attribute, childAt, childrenNamed, type MarkupElement } from "../web/markup-tree.ts";

interface ParagraphStyle {
  /** 1–6; undefined if the paragraph is no heading. */
  readonly headingLevel?: number | undefined;
  readonly kind: "text" | "code" | "quote";
  readonly numbering: { readonly id: string; readonly level: number } | undefined;
}

export interface DocxStyles {
  /** The meaning of a paragraph by its own properties and those of its style. */
  of(paragraphProperties: MarkupElement | undefined): ParagraphStyle;
}

/** Styles are based on other styles; a longer chain is a cycle. */
const MAX_STYLE_CHAIN = 20;
const BODY_TEXT_LEVEL = 9;

export function docxStyles(root: MarkupElement | undefined): DocxStyles {
  const styles = new Map(
    childrenNamed(root, "style").map((style) => [attribute(style, "styleId") ?? "", style]),
  );
  const defaultId = childrenNamed(root, "style").find(
    (style) => attribute(style, "type") === "paragraph" && attribute(style, "default") === "1",
  );
  const chain = (id: string | undefined): MarkupElement[] => {
    const found: MarkupElement[] = [];
    let style = id === undefined ? defaultId : styles.get(id);
    while (style !== undefined && found.length < MAX_STYLE_CHAIN) {
      found.push(style);
      style = styles.get(value(style, "basedOn") ?? "");
    }
    return found;
  };
  const known = new Map<string | undefined, Inherited>();
  const inherited = (id: string | undefined): Inherited => {
    const found = known.get(id) ?? inheritedOf(chain(id), id);
    known.set(id, found);
    return found;
  };
  return {
    of(properties) {
      const style = inherited(value(properties, "pStyle"));
      const own = childAt(properties, "numPr");
      return {
        headingLevel: style.namedLevel ?? levelOfOutline(value(properties, "outlineLvl") ?? style.outline),
        kind: style.kind,
        numbering: numberingOf(
          value(own, "numId") ?? style.numberingId,
          value(own, "ilvl") ?? style.numberingLevel,
        ),
      };
    },
  };
}

/** What a paragraph has by its style. Computed once for each style, since there may be many. */
interface Inherited {
  readonly namedLevel: number | undefined;
  readonly outline: string | undefined;
  readonly kind: ParagraphStyle["kind"];
  readonly numberingId: string | undefined;
  readonly numberingLevel: string | undefined;
}

function inheritedOf(chain: readonly MarkupElement[], id: string | undefined): Inherited {
  const names = [...chain.map((style) => value(style, "name") ?? ""), id ?? ""];
  const properties = chain.map((style) => childAt(style, "pPr"));
  const numberings = properties.map((entry) => childAt(entry, "numPr"));
  const first = (elements: readonly (MarkupElement | undefined)[], child: string): string | undefined =>
    elements.map((entry) => value(entry, child)).find((found) => found !== undefined);
  return {
    namedLevel: namedLevel(names),
    outline: first(properties, "outlineLvl"),
    kind: kindOf(names),
    numberingId: first(numberings, "numId"),
    numberingLevel: first(numberings, "ilvl"),
  };
}

function namedLevel(names: readonly string[]): number | undefined {
  for (const name of names) {
    const level = /^heading ?([1-9])\b/i.exec(name)?.[1];
    if (level !== undefined) return Math.min(Number(level), 6);
    if (/^title$/i.test(name)) return 1;
  }
  return undefined;
}

function levelOfOutline(outline: string | undefined): number | undefined {
  const level = Number(outline ?? BODY_TEXT_LEVEL);
  return level < BODY_TEXT_LEVEL ? Math.min(level + 1, 6) : undefined;
}

function kindOf(names: readonly string[]): ParagraphStyle["kind"] {
  if (
    names.some((name) =>
      /\b(?:source ?code|code ?block|code|html preformatted|preformatted text|verbatim)\b/i.test(name),
    )
  )
    return "code";
  return names.some((name) => /^(?:intense )?(?:quote|block ?text)$/i.test(name)) ? "quote" : "text";
}

function numberingOf(id: string | undefined, level: string | undefined): ParagraphStyle["numbering"] {
  return id === undefined || id === "0" ? undefined : { id, level: Number(level ?? 0) };
}

export interface DocxNumberings {
  /** The marker of the next item of that list: `-`, `1.`, `2.1`. Each call advances the list's counter. */
  next(id: string, level: number): string;
}

interface NumberingLevel {
  readonly format: string;
  readonly start: number;
  /** The marker's pattern, with `%1` for the number of the first level. */
  readonly text: string;
}

const MAX_LEVELS = 9;
/** A longer marker was made to be repeated with each item. */
const MAX_MARKER_CHARS = 64;
/** Numbers as letters repeat the letter (`aa` follows `z`); larger numbers are written in digits. */
const MAX_LETTERED = 26 * 8;

export function docxNumberings(root: MarkupElement | undefined): DocxNumberings {
  const abstract = new Map(
    childrenNamed(root, "abstractNum").map((entry) => [attribute(entry, "abstractNumId") ?? "", entry]),
  );
  const lists = new Map(
    childrenNamed(root, "num").map((entry) => [
      attribute(entry, "numId") ?? "",
      { entry, abstract: value(entry, "abstractNumId") ?? "" },
    ]),
  );
  const levelsById = new Map<string, Levels>();
  const levelsOfList = (id: string): Levels => {
    const levels = levelsById.get(id) ?? levelsOf(abstract.get(id));
    levelsById.set(id, levels);
    return levels;
  };
  const counters = new Map<string, number[]>();
  const started = new Set<string>();
  return {
    next(id, level) {
      const list = lists.get(id);
      const shared = list?.abstract ?? "";
      const levels = levelsOfList(shared);
      const at = Math.min(Math.max(level, 0), MAX_LEVELS - 1);
      const own = levels[at];
      if (own === undefined || own.format === "bullet" || own.format === "none") return "-";
      // Lists of the same abstract numbering share their counter, unless a list overrides its start.
      const counts = counters.get(shared) ?? [];
      counters.set(shared, counts);
      const restart = started.has(`${id}/${at}`) ? undefined : startOverride(list?.entry, at);
      started.add(`${id}/${at}`);
      counts[at] = restart ?? (counts[at] ?? own.start - 1) + 1;
      counts.length = at + 1;
      return markerText(levels, counts, own);
    },
  };
}

type Levels = readonly (NumberingLevel | undefined)[];

function levelsOf(abstract: MarkupElement | undefined): Levels {
  const levels: (NumberingLevel | undefined)[] = [];
  for (const level of childrenNamed(abstract, "lvl")) {
    levels[Number(attribute(level, "ilvl") ?? 0)] = {
      format: value(level, "numFmt") ?? "decimal",
      start: Number(value(level, "start") ?? 1),
      text: (value(level, "lvlText") ?? "").slice(0, MAX_MARKER_CHARS),
    };
  }
  return levels;
}

function startOverride(list: MarkupElement | undefined, level: number): number | undefined {
  const override = childrenNamed(list, "lvlOverride").find(
    (entry) => attribute(entry, "ilvl") === String(level),
  );
  const start = value(override, "startOverride");
  return start === undefined ? undefined : Number(start);
}

function markerText(levels: Levels, counts: readonly number[], own: NumberingLevel): string {
  const text = own.text.replace(/%([1-9])/g, (_, digit: string) => {
    const at = Number(digit) - 1;
    return formatNumber(counts[at] ?? levels[at]?.start ?? 1, levels[at]?.format ?? "decimal");
  });
  return text.trim() === "" ? `${counts.at(-1) ?? 1}.` : text.trim();
}

const ROMAN = Object.entries({
  m: 1000,
  cm: 900,
  d: 500,
  cd: 400,
  c: 100,
  xc: 90,
  l: 50,
  xl: 40,
  x: 10,
  ix: 9,
  v: 5,
  iv: 4,
  i: 1,
});

function formatNumber(number: number, format: string): string {
  if ((format === "lowerLetter" || format === "upperLetter") && number >= 1 && number <= MAX_LETTERED) {
    const letter = String.fromCharCode(97 + ((number - 1) % 26)).repeat(Math.ceil(number / 26));
    return format === "upperLetter" ? letter.toUpperCase() : letter;
  }
  if (format !== "lowerRoman" && format !== "upperRoman") return String(number);
  let rest = Math.min(Math.max(number, 1), 3999);
  let roman = "";
  for (const [sign, size] of ROMAN) {
    while (rest >= size) {
      roman += sign;
      rest -= size;
    }
  }
  return format === "upperRoman" ? roman.toUpperCase() : roman;
}

function value(element: MarkupElement | undefined, child: string): string | undefined {
  return attribute(childAt(element, child), "val");
}
