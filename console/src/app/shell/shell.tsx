import { AppShell, Box, Burger, Button, Group, Kbd } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Link, Outlet, useLocation, useRouter } from "@tanstack/react-router";
import { type ReactNode, Suspense, lazy, useEffect, useRef, useState } from "react";
import { useMessages } from "../../messages/messages.ts";
import { ScreenLoading } from "../../parts/screen-loading.tsx";
import { ShortcutsProvider } from "../../parts/shortcuts.tsx";
import { messages } from "../messages.ts";
import { AccountMenu } from "./account-menu.tsx";
import { loadAhead } from "./ahead.ts";
import { CurlMenu } from "./curl-menu.tsx";
import { GlobalShortcuts } from "./global-shortcuts.tsx";
import { LiveMark } from "./live-mark.tsx";
import { Navigation } from "./navigation.tsx";
import { SessionBanner } from "./session-banner.tsx";

const loadPalette = async () => ({ default: (await import("../palette/palette.tsx")).Palette });
const Palette = lazy(loadPalette);
const ShortcutHelp = lazy(async () => ({
  default: (await import("../palette/shortcut-help.tsx")).ShortcutHelp,
}));

/** What is around every screen. */
export function Shell(): ReactNode {
  const [opened, { toggle, close }] = useDisclosure();
  const [shown, setShown] = useState<"palette" | "help" | null>(null);
  const { pathname } = useLocation();
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    close();
    // Those who hear the page are told of the new screen; the first one is told by the page itself.
    if (!isFirst.current) main.current?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [pathname, close]);
  const router = useRouter();
  // Who opens the palette types at once.
  useEffect(() => loadAhead(router, loadPalette), [router]);
  const texts = useMessages(messages).nav;
  return (
    <ShortcutsProvider>
      <GlobalShortcuts onPalette={() => setShown("palette")} onHelp={() => setShown("help")} />
      <a className="skip-link" href="#content">
        {texts.skip}
      </a>
      <AppShell
        header={{ height: 52 }}
        navbar={{ width: 240, breakpoint: "sm", collapsed: { mobile: !opened } }}
        padding="md"
      >
        <AppShell.Header>
          <Group h="100%" px="md" gap="xs" wrap="nowrap">
            <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label={texts.open} />
            <Header onPalette={() => setShown("palette")} onHelp={() => setShown("help")} />
          </Group>
        </AppShell.Header>
        <AppShell.Navbar p="xs" aria-label={texts.main}>
          <Navigation />
        </AppShell.Navbar>
        <AppShell.Main id="content" ref={main} tabIndex={-1}>
          <SessionBanner />
          <Suspense fallback={<ScreenLoading />}>
            <Outlet />
          </Suspense>
        </AppShell.Main>
      </AppShell>
      <Suspense>
        {shown === "palette" && <Palette onClose={() => setShown(null)} />}
        {shown === "help" && <ShortcutHelp onClose={() => setShown(null)} />}
      </Suspense>
    </ShortcutsProvider>
  );
}

interface HeaderProps {
  readonly onPalette: () => void;
  readonly onHelp: () => void;
}

function Header({ onPalette, onHelp }: HeaderProps): ReactNode {
  const texts = useMessages(messages).header;
  return (
    <>
      <Link to="/" aria-label="Holdfast" style={{ display: "flex" }}>
        <img src={`${import.meta.env.BASE_URL}mark.svg`} alt="" width={28} height={28} />
      </Link>
      <Box flex={1}>
        <Button variant="default" size="xs" onClick={onPalette} aria-keyshortcuts="Control+K">
          {texts.palette}
          <Kbd size="xs" ml="xs" visibleFrom="xs">
            Ctrl K
          </Kbd>
        </Button>
      </Box>
      <LiveMark />
      <CurlMenu />
      <AccountMenu onHelp={onHelp} />
    </>
  );
}
