/** Says which event it is that a row was added or changed. */
import type { ToldEvent } from "../audit/append.ts";

interface Row {
  readonly id: string;
  readonly isNew: boolean;
  /** Whether it is a user who was removed and is named again. */
  readonly isGone: boolean;
  /** Its organization, or an agent's space. */
  readonly parentId: string | null;
}

/** @returns undefined for a new organization, whose log begins with what is in it. */
export function eventOfRow(
  table: "organizations" | "users" | "spaces" | "agents",
  { id, isNew, isGone, parentId }: Row,
): ToldEvent | undefined {
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
