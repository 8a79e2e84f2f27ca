/** What the parts of provisioning share: how it fails, and the word for a user's own space. */
import { ExpectedFailure } from "../expected-failure.ts";

/** The name that stands for the owner's private space in a key's list of spaces. */
export const PRIVATE_SPACE = "private";

/** All mistakes of the file, each like `organizations[0].users[1].email: is missing`. Nothing was changed. */
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
