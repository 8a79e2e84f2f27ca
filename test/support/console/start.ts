/**
 * Starts a stack whose people sign in at the development issuer to a console that is built from its sources.
 */
import { CONSOLE_CLIENT, issuerUrl, startIssuer } from "../../../src/embedded/servers/issuer-part.ts";
import { issuerSecret } from "../../../src/embedded/secret-file.ts";
import { freePort } from "../../../src/embedded/ports.ts";
import type { Running } from "../../../src/embedded/processes/launch.ts";
import { atEnd } from "../run/at-end.ts";
import { buildSite } from "../servers/sites.ts";
import { type Stack, type StackOptions, startStack } from "../stack/stack.ts";

const AUDIENCE = "holdfast";

export interface ConsoleStack extends Stack {
  /** The origin of the issuer, and the `iss` of its tokens. */
  readonly issuer: string;
  /** What the issuer wants to see before it signs anybody in. */
  readonly secret: string;
  /** Ends the issuer, so that nobody can sign in and no token is renewed. */
  stopIssuer(): Promise<void>;
  /** Starts it again at the same address; it has forgotten its sessions. */
  startIssuer(): Promise<void>;
}

/** Builds the console unless it is built, and starts everything that it needs. */
export async function startConsole(
  options: Pick<StackOptions, "withoutTenants"> = {},
): Promise<ConsoleStack> {
  const port = await freePort();
  const issuer = issuerUrl(port);
  await buildSite("console");
  const stack = await startStack({
    ...options,
    env: { OIDC_ISSUER: issuer, OIDC_AUDIENCE: AUDIENCE, CONSOLE_CLIENT_ID: CONSOLE_CLIENT },
  });
  let running: Running | undefined;
  const open = async (): Promise<void> => {
    running = await startIssuer({ env: stack.env, dataDir: stack.dataDir, port }, (launched) => {
      running = launched;
    });
  };
  const hasEnded = atEnd(() => running?.kill());
  const closeStack = stack.close;
  const console = Object.assign(stack, {
    issuer,
    secret: await issuerSecret(stack.dataDir),
    startIssuer: open,
    stopIssuer: async () => running?.stop(),
    async close() {
      hasEnded();
      await running?.stop();
      await closeStack();
    },
  });
  try {
    await open();
  } catch (error) {
    await console.close();
    throw error;
  }
  return console;
}
