import { Anchor, Button, Center, Loader, Paper, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { SignInFailed } from "../auth/sign-in.ts";
import { useMessages } from "../messages/messages.ts";
import type { Entry, SignedInEntry } from "./enter.ts";
import { messages } from "./messages.ts";

type Before = Exclude<Entry, SignedInEntry>;

/** Everything that is shown before somebody is signed in. */
export function SignInPage({ entry }: { readonly entry: Before }): ReactNode {
  const texts = useMessages(messages).signIn;
  if (entry.phase === "entering")
    return (
      <Center component="main" mih="100vh">
        <Loader aria-label={texts.working} />
      </Center>
    );
  return (
    <Center component="main" mih="100vh" p="md">
      <Paper withBorder p="xl" maw={420} w="100%">
        <Stack>
          <img src={`${import.meta.env.BASE_URL}mark.svg`} alt="" width={40} height={40} />
          <Words entry={entry} />
        </Stack>
      </Paper>
    </Center>
  );
}

function Words({ entry }: { readonly entry: Exclude<Before, { phase: "entering" }> }): ReactNode {
  const texts = useMessages(messages).signIn;
  switch (entry.phase) {
    case "unreachable":
      return (
        <>
          <Title order={1} size="h3">
            {texts.notFound}
          </Title>
          <Button onClick={() => location.reload()}>{texts.again}</Button>
        </>
      );
    case "no-issuer":
      return (
        <>
          <Title order={1} size="h3">
            {texts.noIssuer}
          </Title>
          <Text>{texts.noIssuerText}</Text>
          <Anchor href="/docs">/docs</Anchor>
        </>
      );
    case "signed-out":
      return (
        <>
          <Title order={1} size="h3">
            {texts.signedOut}
          </Title>
          <Text>{texts.signedOutText}</Text>
          <Again begin={() => entry.signIn.begin({ returnTo: "/" })} />
        </>
      );
    case "unknown-person":
      return (
        <>
          <Title order={1} size="h3">
            {texts.notKnown}
          </Title>
          <Text>{texts.notKnownText}</Text>
          <Again begin={() => entry.signIn.end(entry.session)} />
        </>
      );
    case "asking":
      return <Asking entry={entry} />;
  }
}

/** Goes to the issuer; where it cannot be reached, that is said. */
function Again({ begin }: { readonly begin: () => Promise<unknown> }): ReactNode {
  const texts = useMessages(messages).signIn;
  const [isUnreachable, setIsUnreachable] = useState(false);
  return (
    <>
      {isUnreachable && <Text role="alert">{texts.unreachable}</Text>}
      <Button onClick={() => void begin().catch(() => setIsUnreachable(true))}>{texts.again}</Button>
    </>
  );
}

function Asking({ entry }: { readonly entry: Extract<Before, { phase: "asking" }> }): ReactNode {
  const texts = useMessages(messages).signIn;
  const [code, setCode] = useState(entry.failure);
  const failure = code === "issuer_unreachable" ? texts.unreachable : texts.refused(code ?? "");
  const begin = (): void => {
    entry.signIn
      .begin({ returnTo: entry.returnTo })
      .catch((error: unknown) => setCode(error instanceof SignInFailed ? error.code : String(error)));
  };
  return (
    <>
      <Title order={1} size="h3">
        {code === null ? texts.title : texts.failed}
      </Title>
      <Text role={code === null ? undefined : "alert"}>{code === null ? texts.text : failure}</Text>
      <Button size="md" onClick={begin}>
        {texts.button}
      </Button>
    </>
  );
}
