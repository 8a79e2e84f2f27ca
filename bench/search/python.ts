/** Asks a Python script of this folder: JSON goes in on standard input, and JSON comes out. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

/** @param script the name of its file @returns what it answers, unchecked */
export async function askPython(python: string, script: string, asked: unknown): Promise<unknown> {
  const child = spawn(python, [fileURLToPath(new URL(script, import.meta.url))], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(JSON.stringify(asked));
  const [answer, [code]] = await Promise.all([json(child.stdout), once(child, "close")]);
  if (code !== 0) throw new Error(`the reference ended with ${code}`);
  return answer;
}
