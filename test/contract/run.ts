/**
 * `npm run schemathesis -- --examples 100 --seed 7`: runs schemathesis for longer than the tests do, in all
 * phases, with an access token and with an API key. Exits with 1 if an answer is not as the document says.
 */
import { Command } from "commander";
import { runSchemathesis } from "../support/clients/schemathesis.ts";
import { startParts } from "../support/run/global-setup.ts";
import { startIssuer } from "../support/servers/issuer.ts";
import { makeThings } from "../support/stack/contract-stack.ts";
import { type Stack, startStack } from "../support/stack/stack.ts";
import { TENANTS } from "../support/tenants/tenants.ts";

/** As long as the access token lives. */
const LIMIT_MS = 55 * 60_000;

interface Options {
  readonly seed: string;
  readonly examples: string;
  readonly phases: string;
}

new Command("schemathesis")
  .option("--seed <number>", "where the random requests begin", "1")
  .option("--examples <number>", "the most requests for each operation and phase", "100")
  .option("--phases <names>", "examples, coverage, fuzzing", "examples,coverage,fuzzing")
  .action(run)
  .parse();

async function run(options: Options): Promise<void> {
  const parts = await startParts({ isDurable: false });
  const issuer = await startIssuer();
  try {
    const jwt = await issuer.token(TENANTS.subject("ada"));
    const stack = await startStack({ env: { OIDC_ISSUER: issuer.url, OIDC_AUDIENCE: issuer.audience } });
    try {
      // In this order: with an access token, keys are revoked.
      const credentials = { "API key": TENANTS.keys.owner, "access token": jwt };
      process.exitCode = (await tryAll(stack, credentials, options)) ? 0 : 1;
    } finally {
      await stack.close();
    }
  } finally {
    await issuer.close();
    await parts.stop();
  }
}

async function tryAll(
  stack: Stack,
  credentials: Readonly<Record<string, string>>,
  { seed, examples, phases }: Options,
): Promise<boolean> {
  const ids = await makeThings(stack, TENANTS);
  let isClean = true;
  for (const [name, token] of Object.entries(credentials)) {
    const result = await runSchemathesis({
      cacheDir: process.env["HOLDFAST_TEST_CACHE_DIR"] ?? "",
      url: stack.url,
      token,
      ids,
      seed: Number(seed),
      maxExamples: Number(examples),
      phases: phases.split(","),
      timeoutMs: LIMIT_MS,
    });
    const shown = result.isClean ? result.summary : result.output;
    process.stdout.write(`${name}: ${shown}\n${JSON.stringify(result.statuses)}\n`);
    const refused = result.statuses[401] ?? 0;
    const answered = Object.values(result.statuses).reduce((sum, count) => sum + count, 0);
    const hasShown = refused < answered / 2;
    if (!hasShown) process.stdout.write(`${name}: most requests were refused, so this shows nothing\n`);
    isClean &&= result.isClean && hasShown;
  }
  return isClean;
}
