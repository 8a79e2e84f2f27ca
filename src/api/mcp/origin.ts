/** Which pages may call `/mcp`: a page elsewhere must not reach a service in its visitor's network. */
import type { Deps } from "../deps.ts";
import { DomainError } from "../../domain/errors.ts";

/** @throws DomainError `permission_denied` for the origin of a page that may not call */
export function requireOrigin(origin: string | undefined, { api }: Deps["config"]): void {
  if (origin === undefined) return;
  const allowed = [new URL(api.publicUrl).origin, ...api.corsOrigins];
  if (!allowed.includes(origin))
    throw new DomainError("permission_denied", "Permission denied: pages of this origin may not call /mcp");
}
