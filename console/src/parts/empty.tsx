import { Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

interface Props {
  readonly title: string;
  readonly text?: string;
  /** What to do first. */
  readonly children?: ReactNode;
}

export function Empty({ title, text, children }: Props): ReactNode {
  return (
    <Stack align="center" py={48} gap="xs" ta="center">
      <Title order={2} size="h4">
        {title}
      </Title>
      {text !== undefined && (
        <Text c="dimmed" maw={480}>
          {text}
        </Text>
      )}
      {children}
    </Stack>
  );
}
