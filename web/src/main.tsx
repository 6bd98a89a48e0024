import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError } from "./api/console-api.ts";
import { ToastProvider } from "./design/toast.tsx";
import { leaveForSignIn } from "./parts/leave-for-sign-in.ts";
import { ReauthenticationProvider } from "./parts/reauthentication.tsx";
import { createSiteRouter } from "./router.tsx";
import "./site.css";

const retriesMax = 2;

function noticeEndOfSession(error: Error): void {
  if (error instanceof ApiError && error.code === "not_signed_in") leaveForSignIn();
}

const queries = new QueryClient({
  queryCache: new QueryCache({ onError: noticeEndOfSession }),
  mutationCache: new MutationCache({ onError: noticeEndOfSession }),
  defaultOptions: {
    queries: {
      // What the server refuses, it refuses again; what could not be reached may be there in a moment.
      retry: (count, error) =>
        count < retriesMax && (!(error instanceof ApiError) || error.status === 0 || error.status >= 500),
    },
  },
});

const place = document.getElementById("site");
if (place === null) throw new Error("The page has no place for the site.");

createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <ToastProvider>
        <ReauthenticationProvider>
          <RouterProvider router={createSiteRouter(queries)} />
        </ReauthenticationProvider>
      </ToastProvider>
    </QueryClientProvider>
  </StrictMode>,
);
