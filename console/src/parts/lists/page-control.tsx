import { Pagination } from "@mantine/core";
import type { ReactNode } from "react";
import { useMessages } from "../../messages/messages.ts";
import { messages } from "./messages.ts";

interface Props {
  readonly page: number;
  readonly total: number;
  readonly onChange: (page: number) => void;
}

/** Leads through the pages of a list; nothing where there is one only. */
export function PageControl({ page, total, onChange }: Props): ReactNode {
  const texts = useMessages(messages);
  if (total <= 1) return null;
  return (
    <Pagination
      mt="md"
      size="sm"
      component="nav"
      aria-label={texts.pages}
      value={page}
      total={total}
      onChange={onChange}
      getItemProps={(number) => ({ "aria-label": texts.page(number) })}
      getControlProps={(control) => ({
        "aria-label": control === "previous" ? texts.previous : texts.next,
      })}
    />
  );
}
