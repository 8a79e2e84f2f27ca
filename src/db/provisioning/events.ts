/** Says which event it is that a row was added or changed. */
import type { ToldEvent } from "../audit/append.ts";
import type { Located, Table } from "./rows.ts";

/** @returns undefined for a new organization, whose log begins with what is in it. */
export function eventOfRow(table: Table, { id, isNew, isGone, parentId }: Located): ToldEvent | undefined {
  switch (table) {
    case "organizations":
      return isNew ? undefined : { type: "organization.updated" };
    case "users":
      return {
        type: isNew || isGone ? "member.added" : "member.updated",
        resource_type: "user",
        resource_id: id,
      };
    case "spaces":
      return {
        type: isNew ? "space.created" : "space.updated",
        resource_type: "space",
        resource_id: id,
        space_id: id,
      };
    case "agents":
      return {
        type: isNew ? "agent.created" : "agent.updated",
        resource_type: "agent",
        resource_id: id,
        space_id: parentId!,
      };
  }
}
