"""Pages in the browser: `linkwise label`, `linkwise segment`.

start (a page from its start to its end), server (a page of given routes, served to one person),
security (who may request what), static_files, requests and updates (what both pages share).

Each page has its state, what it shows, and its requests: label_page, label_view, label_routes for
`linkwise label`, segment_page for `linkwise segment`. The clustering of the label page runs in a
process of its own: worker (the process), engine (its work), map_layout, messages (between server
and worker).
"""
