/** Reads XML and HTML as a plain tree, within bounds. Only predefined entities are ever expanded. */

import { Parser } from "htmlparser2";
import { DomainError } from "../../domain/errors.ts";

export interface MarkupElement {
  /** Without its prefix in XML, in lower case in HTML. */
  readonly name: string;
  /** With prefixes, as written. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: MarkupNode[];
  /** Its place among the elements of its name in the file, from 1 and in the order of their opening tags. */
  readonly number: number;
}

/** A string is text. */
export type MarkupNode = MarkupElement | string;

/** A tree of this many elements takes about 400 MB. */
const MAX_ELEMENTS = 1_500_000;

/** Deeper elements become children of their ancestor at this depth: recursion cannot overflow. */
const MAX_TREE_DEPTH = 256;

/** Old pages leave hundreds of tags open. A file with more was made so that closing them takes long. */
const MAX_OPEN_ELEMENTS = 2_000;

/**
 * The tree, whose root has no name. Broken markup gives what a browser would make of it. Throws `too_large`
 * for more than {@link MAX_ELEMENTS}, and `too_complex` if more than {@link MAX_OPEN_ELEMENTS} are nested.
 *
 * @param kind `xhtml` is HTML in which a tag may close itself.
 */
export function parseMarkup(source: string, kind: "xml" | "html" | "xhtml"): MarkupElement {
  const root: MarkupElement = { name: "", attributes: {}, children: [], number: 1 };
  const counts = new Map<string, { count: number }>();
  const open: MarkupElement[] = [root];
  let skipped = 0;
  let elements = 0;
  const isXml = kind === "xml";
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        elements++;
        if (elements > MAX_ELEMENTS)
          throw new DomainError("too_large", `The file has more than ${MAX_ELEMENTS} elements.`);
        const ownName = isXml ? name.slice(name.indexOf(":") + 1) : name;
        const element: MarkupElement = {
          name: ownName,
          attributes,
          children: [],
          number: countOne(counts, ownName),
        };
        open.at(-1)?.children.push(element);
        if (open.length + skipped > MAX_OPEN_ELEMENTS)
          throw new DomainError(
            "too_complex",
            `The document is nested deeper than ${MAX_OPEN_ELEMENTS} elements.`,
          );
        if (open.length < MAX_TREE_DEPTH) open.push(element);
        else skipped++;
      },
      ontext(text) {
        const siblings = open.at(-1)?.children ?? [];
        const last = siblings.at(-1);
        if (typeof last === "string") siblings[siblings.length - 1] = last + text;
        else siblings.push(text);
      },
      onclosetag() {
        if (skipped > 0) skipped--;
        else if (open.length > 1) open.pop();
      },
    },
    {
      xmlMode: isXml,
      decodeEntities: true,
      lowerCaseTags: !isXml,
      lowerCaseAttributeNames: !isXml,
      recognizeSelfClosing: kind !== "html",
    },
  );
  parser.end(source);
  return root;
}

function countOne(counts: Map<string, { count: number }>, name: string): number {
  const known = counts.get(name);
  if (known !== undefined) return ++known.count;
  counts.set(name, { count: 1 });
  return 1;
}

/** The element's name and its place among those of its name in the file: `p[12]`. */
export function elementName({ name, number }: MarkupElement): string {
  return `${name}[${number}]`;
}

export function isElement(node: MarkupNode): node is MarkupElement {
  return typeof node !== "string";
}

export function childrenNamed(element: MarkupElement | undefined, name: string): MarkupElement[] {
  return (element?.children ?? []).filter(
    (child): child is MarkupElement => isElement(child) && child.name === name,
  );
}

/** The element at the end of a path of child names, each the first of its name; else undefined. */
export function childAt(
  element: MarkupElement | undefined,
  ...path: readonly string[]
): MarkupElement | undefined {
  let found = element;
  for (const name of path)
    found = found?.children.find((child): child is MarkupElement => isElement(child) && child.name === name);
  return found;
}

/** All descendants of that name in document order, except those inside of another one that was found. */
export function descendantsNamed(element: MarkupElement, name: string): MarkupElement[] {
  const found: MarkupElement[] = [];
  addDescendants(found, element, name);
  return found;
}

function addDescendants(found: MarkupElement[], element: MarkupElement, name: string): void {
  for (const child of element.children) {
    if (!isElement(child)) continue;
    if (child.name === name) found.push(child);
    else addDescendants(found, child, name);
  }
}

/** The attribute of that local name with any prefix; one without a prefix is preferred. */
export function attribute(element: MarkupElement | undefined, name: string): string | undefined {
  if (element === undefined) return undefined;
  const plain = element.attributes[name];
  if (plain !== undefined) return plain;
  const key = Object.keys(element.attributes).find((candidate) => candidate.endsWith(`:${name}`));
  return key === undefined ? undefined : element.attributes[key];
}

/** All text of the element and its descendants, as written. */
export function elementText(element: MarkupElement | undefined): string {
  const parts: string[] = [];
  if (element !== undefined) addText(parts, element);
  return parts.join("");
}

function addText(parts: string[], element: MarkupElement): void {
  for (const child of element.children) {
    if (isElement(child)) addText(parts, child);
    else parts.push(child);
  }
}
