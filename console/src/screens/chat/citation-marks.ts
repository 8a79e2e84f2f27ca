/** Makes the marks of an answer, `[1]` or `[1, 3]`, links to their sources. */

interface Node {
  type: string;
  value?: string;
  url?: string;
  children?: Node[];
}

const MARK = /\[(\d{1,3}(?:,\s*\d{1,3})*)\]/g;
export const CITE = "#cite-";

/** A plugin of remark. Marks in code stay as they are. */
export function citationMarks() {
  return (tree: Node): void => walk(tree);
}

function walk(node: Node): void {
  if (node.children === undefined || node.type === "link") return;
  node.children = node.children.flatMap((child) => {
    if (child.type === "text") return withLinks(child.value ?? "");
    walk(child);
    return [child];
  });
}

function withLinks(text: string): Node[] {
  const nodes: Node[] = [];
  let at = 0;
  for (const match of text.matchAll(MARK)) {
    if (match.index > at) nodes.push({ type: "text", value: text.slice(at, match.index) });
    for (const number of match[1]!.split(","))
      nodes.push({
        type: "link",
        url: `${CITE}${number.trim()}`,
        children: [{ type: "text", value: `[${number.trim()}]` }],
      });
    at = match.index + match[0].length;
  }
  if (at < text.length) nodes.push({ type: "text", value: text.slice(at) });
  return nodes;
}
