import { Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

interface Props {
  readonly title: string;
  readonly children: ReactNode;
}

export function Section({ title, children }: Props): ReactNode {
  return (
    <Stack gap="xs">
      <Title order={2} size="h4">
        {title}
      </Title>
      {children}
    </Stack>
  );
}

/** An id, which is all that operators are told of an organization or a process. */
export function Id({ children }: { readonly children: string }): ReactNode {
  return (
    <Text size="xs" ff="monospace" style={{ overflowWrap: "anywhere" }}>
      {children}
    </Text>
  );
}
