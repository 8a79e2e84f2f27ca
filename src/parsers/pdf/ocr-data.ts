/** Unpacks tesseract's language data from npm packages to the folder from which OCR reads it. */

import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { ExpectedFailure } from "../../domain/expected-failure.ts";
import type { OcrSettings } from "../parser.ts";

const require = createRequire(import.meta.url);

/**
 * Unpacks the data of these languages into the folder, unless it is there already. Safe from any number of
 * processes at once.
 *
 * @param languages Tesseract's codes, for example `eng`; each needs the package `@tesseract.js-data/<code>`.
 * @throws ExpectedFailure that names the missing package.
 */
export async function prepareOcrData(languages: readonly string[], folder: string): Promise<OcrSettings> {
  await mkdir(folder, { recursive: true });
  for (const language of languages) {
    const target = join(folder, `${language}.traineddata`);
    if (await exists(target)) continue;
    const unpacked = await promisify(gunzip)(await readFile(dataFile(language, folder)));
    const partial = `${target}.${process.pid}`;
    await writeFile(partial, unpacked);
    await rename(partial, target);
  }
  return { languages: languages.join("+"), dataFolder: folder };
}

/** Languages whose data is neither in the folder nor in an installed package. */
export async function missingOcrData(languages: readonly string[], folder: string): Promise<string[]> {
  const missing: string[] = [];
  for (const language of languages)
    if (!(await exists(join(folder, `${language}.traineddata`))) && !hasPackage(language, folder))
      missing.push(language);
  return missing;
}

function hasPackage(language: string, folder: string): boolean {
  try {
    return dataFile(language, folder) !== "";
  } catch {
    return false;
  }
}

function dataFile(language: string, folder: string): string {
  try {
    return require.resolve(`@tesseract.js-data/${language}/4.0.0_best_int/${language}.traineddata.gz`);
  } catch (error) {
    throw new ExpectedFailure(
      `OCR_LANGUAGES names ${language}, and there is neither ${join(folder, `${language}.traineddata`)} ` +
        `nor the package that brings its data: npm install @tesseract.js-data/${language}`,
      error,
    );
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
