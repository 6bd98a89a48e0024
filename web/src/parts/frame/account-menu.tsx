import { api, ask } from "../../api/console-api.ts";
import { useQueryCache } from "../../api/use-query-cache.ts";
import { Menu, MenuChoice, MenuItem } from "../../design/menu.tsx";
import { useAction } from "../forms/use-action.ts";
import { forgetRecentEntries } from "../search/recent-entries.ts";
import { useSession } from "../session/use-session.ts";
import { lazyPart } from "./lazy-part.tsx";
import { themeNames, themes, useTheme } from "./use-theme.ts";

/** Operators who see a customer's account: customers never load it. */
const ViewBar = lazyPart(async () => (await import("../../pages/admin/views/view-bar.tsx")).ViewBar);

export function AccountMenu() {
  const { user, view } = useSession();
  return view === null ? <OwnMenu /> : <ViewBar email={user.email} endsAt={view.ends_at} />;
}

function OwnMenu() {
  const { user } = useSession();
  const [theme, chooseTheme] = useTheme();
  const answers = useQueryCache();
  const signOut = useAction(
    () => ask(api.POST("/sign-out", { body: {} })),
    () => {
      answers.clear();
      sessionStorage.clear();
      forgetRecentEntries();
      location.assign("/sign-in");
    },
  );
  return (
    <Menu label={<span className="truncate">{user.email}</span>} name={`Account of ${user.email}`}>
      <MenuChoice
        label="Theme"
        options={themes.map((value) => ({ value, label: themeNames[value] }))}
        chosen={theme}
        onChoose={chooseTheme}
      />
      <MenuItem onSelect={() => signOut.run(undefined)}>Sign out</MenuItem>
    </Menu>
  );
}
