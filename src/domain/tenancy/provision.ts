/** What every part of provisioning agrees on: how it fails, and the word for a user's own space. */
import { ExpectedFailure } from "../expected-failure.ts";

/** The name by which a key's list of spaces means its owner's private one. */
export const PRIVATE_SPACE = "private";

/** Every mistake of the file at once; nothing was changed. They look like `organizations[0].users[1].email: is missing`. */
export class ProvisionError extends ExpectedFailure {
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(
      `The provisioning file cannot be applied:\n${mistakes.map((mistake) => `  ${mistake}`).join("\n")}`,
    );
    this.name = "ProvisionError";
    this.mistakes = mistakes;
  }
}
