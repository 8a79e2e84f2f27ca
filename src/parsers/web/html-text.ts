/** The text of inline and preformatted HTML. */

import { attribute, isElement, type MarkupElement, type MarkupNode } from "./markup-tree.ts";

/** A set of names that are separated by spaces. */
export const names = (list: string): ReadonlySet<string> => new Set(list.split(" "));

/** Elements whose content no reader sees, or that is not text. */
export const SKIPPED = names(
  "head script style noscript template svg iframe object embed audio video canvas",
);
/** Elements that begin a new block; all others are inline. */
export const BLOCKS = names(
  "address article aside body caption center dd details dialog div dl dt fieldset figcaption figure footer " +
    "form header hgroup hr html legend li main menu nav option p search section select summary table tbody " +
    "td tfoot th thead tr ul ol pre blockquote h1 h2 h3 h4 h5 h6",
);

const MAX_IMAGE_ADDRESS_CHARS = 200;

/** Inline text with white space as written. A line break is a vertical tab until {@link collapsed}. */
export function inlineText(element: MarkupElement): string {
  const parts: string[] = [];
  addInline(parts, element);
  return parts.join("");
}

function addInline(parts: string[], element: MarkupElement): void {
  if (SKIPPED.has(element.name)) return;
  if (element.name === "br") parts.push("\v");
  else if (element.name === "img") parts.push(imageText(element));
  else if (element.name === "input") parts.push(checkboxText(element));
  else for (const child of element.children) addNode(parts, child);
}

/** Adds the inline text of a node, with line breaks around a block. */
export function addNode(parts: string[], node: MarkupNode): void {
  if (!isElement(node)) parts.push(node);
  else {
    parts.push(gap(node));
    addInline(parts, node);
    parts.push(gap(node));
  }
}

function checkboxText(element: MarkupElement): string {
  if (attribute(element, "type") !== "checkbox") return "";
  return "checked" in element.attributes ? "[x] " : "[ ] ";
}

function gap(element: MarkupElement): string {
  return BLOCKS.has(element.name) ? "\v" : "";
}

function imageText(element: MarkupElement): string {
  const alternative = collapsed(attribute(element, "alt") ?? "");
  const source = attribute(element, "src") ?? "";
  if (alternative === "") return "";
  const isLeftOut = source.startsWith("data:") || source.length > MAX_IMAGE_ADDRESS_CHARS;
  const address = isLeftOut ? "" : source.replace(/[()\s]/g, encodeURIComponent);
  return `![${alternative.replace(/[[\]]/g, "")}](${address})`;
}

/** White space as a browser shows it: each run becomes one space, and line breaks stay. */
export function collapsed(text: string): string {
  return text
    .replace(/[\t\n\f\r ]+/g, " ")
    .replace(/ ?\v[ \v]*/g, "\n")
    .trim();
}

/** All text of a block as inline text, with its white space collapsed. */
export function blockText(element: MarkupElement): string {
  return collapsed(inlineText({ ...element, name: "div" }));
}

/** Text with white space as written, as in `pre`. */
export function preformatted(element: MarkupElement): string {
  return element.children
    .map((child) => (isElement(child) ? (child.name === "br" ? "\n" : preformatted(child)) : child))
    .join("");
}
