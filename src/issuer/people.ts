/** Whom the development issuer signs in: the database's users, also those who were added just now. */
import { loadConfig } from "../config/config.ts";
import { openConfigured } from "../cli/connect.ts";
import { findUserBySubject, listUsers } from "../db/tenancy/users.ts";

export interface Person {
  readonly id: string;
  /** The `sub` of tokens: the user's, or the id of one who waits for the first sign-in. */
  readonly subject: string;
  readonly email: string;
  readonly name: string;
  readonly role: "admin" | "member";
  readonly organization: string;
}

export interface People {
  /** Those with `text` in their name, address or organization, by name; at most 100. */
  list(text: string): Promise<readonly Person[]>;
  find(subject: string): Promise<Person | undefined>;
  /** Closes the database, if it was opened; after that the process can end. */
  close(): Promise<void>;
}

/** Opens the database when somebody is first asked for: the issuer starts beside it. */
export function openPeople(): People {
  let opened: ReturnType<typeof openConfigured> | undefined;
  const database = (): ReturnType<typeof openConfigured> =>
    (opened ??= openConfigured(loadConfig()).catch((error: unknown) => {
      opened = undefined;
      throw error;
    }));
  return {
    list: async (text) => listUsers(await database(), text),
    find: async (subject) => findUserBySubject(await database(), subject),
    async close() {
      // One that could not be opened needs no end.
      await (await opened?.catch(() => undefined))?.close();
    },
  };
}
