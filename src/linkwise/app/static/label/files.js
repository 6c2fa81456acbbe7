// The Files menu: import of a table. Exports are plain links.
import { $ } from "../shared/dom.js";
import { say } from "../shared/notices.js";
import { upload } from "../shared/requests.js";

// Call show(view) with the view after an import.
export function listenToFiles(show) {
  $("import").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    event.target.value = ""; // the same file may be chosen again
    if (!file) return;
    try {
      const view = await upload(file);
      show(view);
      say(view.said);
      $("file-menu").open = false;
    } catch (error) {
      say(error.message, { error: true });
    }
  });
  document.addEventListener("click", (event) => {
    if (!$("file-menu").contains(event.target)) $("file-menu").open = false;
  });
}
