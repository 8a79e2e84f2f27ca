/**
 * Serves a stack of the version whose tree is given, until its standard input ends. Prints the address.
 */
import { once } from "node:events";
import { join } from "node:path";
import { Command } from "commander";
import type setupOfThis from "../../test/support/run/global-setup.ts";
import type { startStack as startStackOfThis } from "../../test/support/stack/stack.ts";

interface Options {
  readonly tree: string;
  readonly provider: string;
}

interface Tree {
  readonly default: typeof setupOfThis;
  readonly startStack: typeof startStackOfThis;
}

async function serve({ tree, provider }: Options): Promise<void> {
  const load = (file: string): Promise<Tree> => import(join(tree, "test/support", file)) as Promise<Tree>;
  const { default: setup } = await load("run/global-setup.ts");
  const { startStack } = await load("stack/stack.ts");
  const stop = await setup();
  const stack = await startStack({ env: { OPENAI_BASE_URL: provider, LOG_LEVEL: "warn" } });
  process.stdout.write(`${stack.url}\n`);
  process.stdin.resume();
  await once(process.stdin, "end");
  await stack.close();
  await stop();
}

await new Command("serve")
  .requiredOption("--tree <dir>", "the version's whole source tree, with its packages")
  .requiredOption("--provider <url>", "the model provider")
  .action(serve)
  .parseAsync();
