/** A place for snippets on the shared stack, where one's own tenants are those of the demo. */
import type { SharedStack } from "../stack/shared-stack.ts";
import { SPACES, AGENTS, type Tenants } from "../tenants/tenants.ts";
import type { Place } from "./run-snippets.ts";

/** What the demo's agent answers, and the guide shows. */
const PIECES = [
  "“Change the gearbox oil every 18 months ",
  "or 9,000 hours of operation, whichever comes first.”",
  " [1]",
];

interface Demo {
  readonly stack: SharedStack;
  readonly tenants: Tenants;
}

/** Also lets the provider give the demo's answer from now on. */
export async function demoPlace({ stack, tenants }: Demo): Promise<Place> {
  stack.provider.replyAlways({ pieces: PIECES });
  return {
    instead: {
      "http://127.0.0.1:8080": stack.url,
      [SPACES.research]: tenants.spaces.research,
      [AGENTS.analyst]: tenants.agents.analyst,
    },
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      HOLDFAST_KEY: tenants.keys.owner,
      HOLDFAST_TOKEN: await stack.issuer.token(tenants.subject("ada")),
    },
  };
}
