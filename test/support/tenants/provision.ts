/** Provisions tenants into a stack's database without starting the CLI. */
import { createKeyText, hashKey, isWellFormedKey, keyPrefix } from "../../../src/auth/api-keys.ts";
import { loadConfig } from "../../../src/config/config.ts";
import type { Database } from "../../../src/db/pool.ts";
import { applyProvisionFile } from "../../../src/db/provisioning/apply.ts";
import { parseProvisionFile } from "../../../src/schema/files/provision.ts";
import { openMasterKey } from "../../../src/storage/keys/master-key.ts";
import { pepperOf } from "./callers.ts";
import { type Tenants, provisionFile } from "./tenants.ts";

/**
 * Provisions the tenants; repeating it changes nothing.
 * @param env the stack's settings, which include the master key.
 */
export async function provisionTenants(
  db: Database,
  env: Record<string, string>,
  tenants: Tenants,
): Promise<void> {
  const file = parseProvisionFile(provisionFile(tenants), { environment: {}, isKey: isWellFormedKey });
  const pepper = await pepperOf(db, await openMasterKey(loadConfig(env).keys));
  await applyProvisionFile(db, file, {
    create: createKeyText,
    hash: (key) => hashKey(pepper, key),
    prefix: keyPrefix,
  });
}
