/** Moves, processes again and deletes what is selected, and says what came of it. */
import { notifications } from "@mantine/notifications";
import { useQueryClient } from "@tanstack/react-query";
import { useHoldfast } from "../../../app/context.ts";
import { useMessages } from "../../../messages/messages.ts";
import { type Outcome, type Target, move, remove, reprocess } from "./bulk.ts";
import { messages } from "./messages.ts";

export interface Bulk {
  readonly move: (target: Target, folderId: string | null) => Promise<void>;
  readonly reprocess: (target: Target) => Promise<void>;
  readonly remove: (target: Target) => Promise<void>;
  /** For what is done without a dialog that would say why it failed. */
  readonly tell: (action: Promise<unknown>) => void;
}

export function useBulk(onDone: () => void): Bulk {
  const holdfast = useHoldfast();
  const queries = useQueryClient();
  const texts = useMessages(messages);
  const say = async (action: "move" | "reprocess" | "remove", doing: Promise<Outcome>): Promise<void> => {
    const { accepted, rejected, reason } = await doing;
    const refused = rejected > 0 ? texts.refused(rejected, reason ?? "") : "";
    notifications.show({
      message: `${texts.done[action](accepted)}. ${refused}`,
      color: rejected > 0 ? "yellow" : "green",
    });
    onDone();
    await queries.invalidateQueries({ queryKey: ["documents"] });
  };
  return {
    move: (target, folderId) => say("move", move(holdfast, target, folderId)),
    reprocess: (target) => say("reprocess", reprocess(holdfast, target)),
    remove: (target) => say("remove", remove(holdfast, target)),
    tell: (action) =>
      void action.catch((error: unknown) =>
        notifications.show({
          title: texts.failed,
          message: error instanceof Error ? error.message : String(error),
          color: "red",
        }),
      ),
  };
}
