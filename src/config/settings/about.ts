/** What docs/settings.md says about a setting: described at its definition, written by `npm run settings`. */
import { z } from "zod";

/** What reads settings: the two processes of the service, `npm start` around them, and the command line. */
export const READERS = ["API", "worker", "npm start", "holdfast"] as const;
export type Reader = (typeof READERS)[number];

interface About {
  /** What the setting does, as Markdown without a full stop; links are relative to docs/. */
  readonly what: string;
  /** What applies while it is not set, if the setting has no default value. */
  readonly unset?: string;
  /** All {@link READERS}, if left out. */
  readonly readBy?: readonly Reader[];
  /** The value must be kept out of logs, files in a repository and the chart's plain values. */
  readonly isSecret?: true;
}

/**
 * @see https://zod.dev/metadata
 * @example url("https").optional().register(ABOUT, { what: "the provider's address", unset: "no provider" })
 */
export const ABOUT = z.registry<About>();
