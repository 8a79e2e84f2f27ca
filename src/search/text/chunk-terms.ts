/** The terms of a chunk's two fields, its text and its header, for whoever writes the index. */
import { analyze } from "./analyzer.ts";

interface ChunkTerms {
  readonly terms: string[];
  readonly headerTerms: string[];
}

/** @param header null in what versions before 0.10.0 wrote. */
export function chunkTerms({
  header,
  text,
}: {
  readonly header: string | null;
  readonly text: string;
}): ChunkTerms {
  const { language, terms } = analyze(text);
  // A header rarely has a function word that shows its language: it is taken to be in that of its text.
  const fallback = language === "und" ? undefined : language;
  const headerTerms = header === null || header === "" ? [] : analyze(header, fallback).terms;
  return { terms, headerTerms };
}
