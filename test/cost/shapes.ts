/**
 * Lists the shapes of text that a reader must handle in linear time: nesting, repetition, brackets that are
 * never closed, delimiters without words.
 */
import { counted, named, nested, numbered, repeat, repeated, type Shape, shown, unclosed } from "./shape.ts";
import { BRACKETS, LINE_STARTS, ODD_RUNS, OPENINGS, PAIRS, RUNS } from "./marks.ts";

const WORDS = "The turbine turns and its gearbox wants oil once a year. ";

/** Indents each level by two more spaces, so a depth of d takes d² characters. */
const indented = (mark: string): Shape =>
  named(`${shown(mark)} indented`, (length) => {
    const depth = Math.max(2, Math.floor(Math.sqrt(length)));
    return Array.from({ length: depth }, (_, level) => `${"  ".repeat(level)}${mark}a\n`).join("");
  });

const frontMatter = (name: string, make: (length: number) => string): Shape =>
  named(`front matter: ${name}`, (length) => `---\n${make(length)}\n---\n\ntext\n`);

const STRUCTURES: readonly Shape[] = [
  numbered("rows of two columns", (row) => `a${row},b${row}\n`),
  numbered("rows of two tabbed columns", (row) => `a${row}\tb${row}\n`),
  named("one row of many columns", (length) => repeat("a,", length)),
  named(
    "a row of many columns over short ones",
    (length) => `${repeat("a,", length / 2)}\n${repeat("a\n", length / 2)}`,
  ),
  named(
    "a pipe table of many columns",
    (length) => `|${repeat("a|", length / 3)}\n|${repeat("-|", length / 3)}\n|${repeat("b|", length / 3)}\n`,
  ),
  named(
    "a wide table head over many rows",
    (length) => `|${repeat("a|", length / 4)}\n|${repeat("-|", length / 4)}\n${repeat("|b|\n", length / 2)}`,
  ),
  repeated("|a|b|\n|-|-|\n"),
  repeated("a|b\n"),
  numbered("keys", (key) => `key${key}: value\n`),
  numbered("keys of one object", (key) => `"k${key}":1,`, "{", '"z":1}'),
  repeated("1,", "[", "1]"),
  repeated('"a",', "[", '"z"]'),
  repeated("{},", "[", "{}]"),
  repeated("[],", "[", "[]]"),
  repeated('{"a":[1,{"b":null}]},', "[", "0]"),
  numbered("values of many keys", (key) => `{"k${key}":"v${key}"},`, "[", "{}]"),
  frontMatter("complex keys", (length) => repeat("? ", length)),
  frontMatter("lists in lists", (length) => repeat("- ", length)),
  frontMatter("keys", (length) => counted(length, (key) => `k${key}: v\n`)),
  frontMatter("keys of a flow map", (length) => `a: {${counted(length, (key) => `k${key}: v, `)}}`),
  frontMatter("flow lists", (length) => `a: ${repeat("[", length / 2)}${repeat("]", length / 2)}`),
  frontMatter("anchors", (length) =>
    counted(length, (key) => `k${key}: &a${key} [*a${Math.max(0, key - 1)}, *a${Math.max(0, key - 1)}]\n`),
  ),
  frontMatter("a quote that never ends", (length) => `a: "${repeat("word ", length)}`),
  frontMatter("a block of text", (length) => `a: |\n${repeat("  word\n", length)}`),
  numbered("anchors and aliases", (key) => `k${key}: &a${key} [*a${Math.max(0, key - 1)}]\n`),
  named(
    "a long heading over many paragraphs",
    (length) => `# ${repeat("word ", length / 2)}\n\n${repeat("text\n\n", length / 2)}`,
  ),
  named(
    "a long title over many paragraphs",
    (length) => `<h1>${repeat("word ", length / 2)}</h1>${repeat("<p>text</p>", length / 2)}`,
  ),
  numbered("headings of all levels", (index) => `${"#".repeat(1 + (index % 6))} part ${index}\n\ntext\n\n`),
  numbered(
    "titles of all levels",
    (index) => `<h${1 + (index % 6)}>part ${index}</h${1 + (index % 6)}><p>text</p>`,
  ),
  named(
    "six long headings, one below the other, over many paragraphs",
    (length) =>
      [1, 2, 3, 4, 5, 6].map((level) => `${"#".repeat(level)} ${repeat("word ", length / 12)}\n\n`).join("") +
      repeat("text\n\n", length / 2),
  ),
  named("runs of backticks of growing length", (length) => {
    const runs = Math.floor(Math.sqrt(length * 2));
    return Array.from({ length: runs }, (_, index) => `${"`".repeat(index + 1)}a`).join("");
  }),
  named("a line of underlined words", (length) => `${repeat("word ", length)}\n===\n`),
  repeated("a\n===\n"),
  repeated("text\n\n\f"),
  named("white space before a line's end", (length) => `a${repeat(" ", length)}b\n`),
  named("white space and a line's end", (length) => `a${repeat(" ", length)}\n`),
  named("one word", (length) => repeat("word", length)),
  named("words of one line", (length) => repeat(WORDS, length)),
  named("lines of words", (length) => repeat(`${WORDS}\n`, length)),
  named("paragraphs of words", (length) => repeat(`${WORDS}${WORDS}\n\n`, length)),
  named("letters with marks on marks", (length) => repeat(`a${"\u0301".repeat(1_000)} `, length)),
  numbered("words that all differ", (index) => `w${index.toString(36)}x `),
  numbered("numbers that all differ", (index) => `${index * 7919} `),
  named("attributes of one tag", (length) => `<a ${counted(length, (index) => `b${index}="c" `)}>text</a>`),
  named(
    "cells that span",
    (length) => `<table>${repeat("<tr><td rowspan=1000 colspan=1000>a</td></tr>", length)}</table>`,
  ),
  named("rows of one table", (length) => `<table>${repeat("<tr><td>a</td><td>b</td></tr>", length)}</table>`),
  named("cells of one row", (length) => `<table><tr>${repeat("<td>a</td>", length)}</tr></table>`),
  named(
    "entities of entities",
    (length) =>
      '<!DOCTYPE a [<!ENTITY b "x">' +
      `${counted(length / 2, (index) => `<!ENTITY c${index} "&b;&b;&c${Math.max(0, index - 1)};">`)}]>` +
      `<a>${repeat("&c9;", length / 2)}</a>`,
  ),
  repeated("<p>", "<html><body>"),
  repeated("<td>", "<table>"),
  repeated("<br>"),
  repeated("<p>a"),
  repeated("</b><b>"),
  repeated("<li><ul>"),
  repeated("data:image/png;base64,AAAA) ![a](", "![a]("),
];

/** The shapes for readers of any kind of text. */
export const TEXT_SHAPES: readonly Shape[] = [
  ...BRACKETS.map(([open, close]) => nested(open, close)),
  ...["- ", "* ", "1. ", "> ", "<ul><li>"].map(indented),
  ...OPENINGS.map(unclosed),
  ...[...RUNS, ...ODD_RUNS].map((unit) => repeated(unit)),
  ...LINE_STARTS.map((start) => repeated(`${start}\n`)),
  ...PAIRS.map((pair) => repeated(pair)),
  ...BRACKETS.filter(([, close]) => close !== "").map(([open]) => repeated(open)),
  ...STRUCTURES,
];

/**
 * One shape of each kind: for readers whose input another reader has already read, and for functions that are
 * measured in large numbers.
 */
export const SOME_SHAPES: readonly Shape[] = TEXT_SHAPES.filter(
  ({ name }, index) => index % 5 === 0 || /column|key|long|table|white space|word|mark|backtick/.test(name),
);

/**
 * The shapes for text out of a container without markup of its own, in which only the text can be hostile.
 */
export const PLAIN_SHAPES: readonly Shape[] = [
  ...[" ", "\n", "a", "|", "-", "\\", "漢", "\u0301", "\t", "`"].map((unit) => repeated(unit)),
  ...["a ", "a\n", "a|", "1. a\n", " \n", "a\n\n", "&", "<"].map((unit) => repeated(unit)),
  named("white space before a line's end", (length) => `a${repeat(" ", length)}b\n`),
  named("paragraphs of words", (length) => repeat(`${WORDS}${WORDS}\n\n`, length)),
  numbered("words that all differ", (index) => `w${index.toString(36)}x `),
];
