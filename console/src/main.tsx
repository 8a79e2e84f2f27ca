import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "./app/console.css";
import { createRoot } from "react-dom/client";
import { Root } from "./app/root.tsx";
import { allowStyleSheets } from "./app/trusted-types.ts";

allowStyleSheets();
createRoot(document.querySelector("#root")!).render(<Root />);
