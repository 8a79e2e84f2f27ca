import { Button, Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useMessages } from "../messages/messages.ts";
import { messages } from "./messages.ts";

export function LostPage(): ReactNode {
  const texts = useMessages(messages).lost;
  return (
    <Stack align="flex-start">
      <Title order={1} size="h2">
        {texts.title}
      </Title>
      <Text>{texts.text}</Text>
      <Button renderRoot={(props) => <Link to="/" {...props} />}>{texts.back}</Button>
    </Stack>
  );
}
