/** Gives every request its id: the caller's if it is a sane token, else a new one. */
import type { Middleware } from "koa";
import { newId } from "../../domain/ids.ts";

const SANE = /^[A-Za-z0-9][A-Za-z0-9._:@/-]{0,127}$/;

export const requestId: Middleware = async (ctx, next) => {
  const given = ctx.get("x-request-id");
  const id = SANE.test(given) ? given : newId();
  ctx.state["requestId"] = id;
  ctx.set("X-Request-Id", id);
  await next();
};
