import { StrictMode } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { createQueryClient } from "./api/create-query-client.ts";
import { loadedBrand } from "./api/fetch-brand.ts";
import { queryTable } from "./api/query-table.ts";
import { redirectToSignIn } from "./parts/session/redirect-to-sign-in.ts";
import { createSiteRouter } from "./router.tsx";
import { Site } from "./site.tsx";
import "./site.css";

/** How long the prerendered page stays while the app's code is missing. */
const sentMsMax = 10_000;

const place = document.getElementById("site");
if (place === null) throw new Error("The page has no #site element.");
const queries = createQueryClient({ onNotSignedIn: redirectToSignIn });
queries.setQueryData(queryTable.brand.now().queryKey, loadedBrand);
let isSent = place.hasChildNodes();
const router = createSiteRouter({ queries, isPatient: () => isSent });

// Replace the prerendered page in one step, so nothing flickers or moves.
if (isSent) {
  const waited = new Promise<void>((pass) => setTimeout(pass, sentMsMax));
  void Promise.race([router.load(), waited]).then(() => {
    takeOver(place);
    isSent = false;
  });
} else show(place);

/** Keeps the scroll position of readers who have started: the router treats the first render as a navigation. */
function takeOver(element: HTMLElement): void {
  const { scrollX, scrollY } = window;
  show(element);
  if (location.hash === "" || scrollY > 0) scrollTo(scrollX, scrollY);
}

function show(element: HTMLElement): void {
  const focused = listFocusable().indexOf(document.activeElement);
  const root = createRoot(element);
  // Synchronously, so focus can move to the element that replaces the focused one.
  flushSync(() =>
    root.render(
      <StrictMode>
        <Site queries={queries} router={router} />
      </StrictMode>,
    ),
  );
  const heir = focused < 0 ? null : listFocusable()[focused];
  if (heir instanceof HTMLElement) heir.focus({ preventScroll: true });
}

function listFocusable(): (Element | null)[] {
  return [...document.querySelectorAll("#site :is(a, button, input, video)")];
}
