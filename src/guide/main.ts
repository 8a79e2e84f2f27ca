/**
 * Builds the guide if its sources have changed, and prints its folder: in the cache, or with `--image` at its
 * place in an image.
 */
import { join } from "node:path";
import { buildGuide } from "./build.ts";
import { IN_IMAGE, ROOT, findGuide, placesOf } from "./built.ts";

const dataDir = valueOf("--data-dir") ?? join(ROOT, ".data");

function valueOf(option: string): string | undefined {
  const at = process.argv.indexOf(option);
  return at < 0 ? undefined : process.argv[at + 1];
}

async function built(): Promise<string> {
  if (process.argv.includes("--image")) return buildGuide([IN_IMAGE]);
  return (await findGuide(dataDir)) ?? (await buildGuide(await placesOf(dataDir)));
}

process.stdout.write(`${await built()}\n`);
