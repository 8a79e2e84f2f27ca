/** The programs of a README. */
import { readFile } from "node:fs/promises";

/** The blocks that are fenced with this language, in their order. */
export async function programsOf(readme: string, language: string): Promise<string[]> {
  const text = await readFile(readme, "utf8");
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))].map(([, code]) => code!);
}
