/** The URLs of the embedded Postgres: one for each login, with the passwords from the data folder. */
import type { RoleName } from "../../db/pool.ts";

export type LoginPasswords = Readonly<Record<RoleName, string>>;

/** The URLs of the three logins, on the server and in the database of `ownerUrl`. */
export function loginUrls(ownerUrl: string, passwords: LoginPasswords): Readonly<Record<RoleName, string>> {
  const urlOf = (username: string, password: string): string =>
    Object.assign(new URL(ownerUrl), { username, password }).toString();
  return {
    app: urlOf("holdfast_app", passwords.app),
    system: urlOf("holdfast_system", passwords.system),
    maintenance: urlOf("holdfast_maintenance", passwords.maintenance),
  };
}
