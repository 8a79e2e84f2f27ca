/** The addresses of a Postgres that a start runs itself: one for each login, with the passwords that the data folder keeps. */
import type { RoleName } from "../../db/pool.ts";

export type LoginPasswords = Readonly<Record<RoleName, string>>;

/** The addresses of the three logins on the server and in the database that `ownerUrl` names. */
export function loginUrls(ownerUrl: string, passwords: LoginPasswords): Readonly<Record<RoleName, string>> {
  const urlOf = (username: string, password: string): string =>
    Object.assign(new URL(ownerUrl), { username, password }).toString();
  return {
    app: urlOf("holdfast_app", passwords.app),
    system: urlOf("holdfast_system", passwords.system),
    maintenance: urlOf("holdfast_maintenance", passwords.maintenance),
  };
}
