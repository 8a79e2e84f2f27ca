import { Center, Loader } from "@mantine/core";
import type { ReactNode } from "react";
import { useMessages } from "../messages/messages.ts";
import { messages } from "./messages.ts";

export function ScreenLoading(): ReactNode {
  const texts = useMessages(messages);
  return (
    <Center mih={200} role="status" aria-label={texts.loading}>
      <Loader type="dots" />
    </Center>
  );
}
