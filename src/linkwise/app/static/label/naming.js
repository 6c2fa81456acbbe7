// The dialog that names a cluster.
import { $, onClick } from "../shared/dom.js";
import { correct } from "./commands.js";
import { store } from "./store.js";

let cluster = 0; // the label of the cluster to be named

export function openNaming({ label, name }) {
  cluster = label;
  $("name").value = name;
  $("naming").returnValue = "";
  $("naming").showModal();
  $("name").select();
}

function rename() {
  if ($("naming").returnValue !== "ok") return;
  const name = $("name").value;
  correct({
    action: "rename",
    options: { cluster, name },
    seen: store.view.seen,
    text: `Name cluster ${cluster} “${name}”`,
    done: `Cluster ${cluster} renamed`,
  });
}

export function listenToNaming() {
  $("naming").addEventListener("close", rename);
  onClick("name-cancel", () => $("naming").close(""));
}
