/// The files of the page itself, which need no token: they say nothing of the store.
enum SiteFiles {
  static func response(to request: WebRequest) throws(WebRefusal) -> WebResponse {
    guard request.method == "GET" || request.method == "HEAD" else {
      throw WebRefusal(405, "'\(request.path)' takes GET only.")
    }
    guard let (type, content) = files[request.path == "/" ? "/index.html" : String(request.path)]
    else { throw WebRefusal(404, "There is nothing at '\(request.path)'.") }
    return WebResponse(
      type: "text/\(type); charset=utf-8", .bytes(request.method == "HEAD" ? [] : content))
  }

  private static let (html, css, script) = ("html", "css", "javascript")

  private static let files: [String: (type: String, content: [UInt8])] = [
    "/address.js": (script, PackageResources.address_js),
    "/api.js": (script, PackageResources.api_js),
    "/backlinks.js": (script, PackageResources.backlinks_js),
    "/cell.js": (script, PackageResources.cell_js),
    "/collection.js": (script, PackageResources.collection_js),
    "/colours.css": (css, PackageResources.colours_css),
    "/create.js": (script, PackageResources.create_js),
    "/diagram.js": (script, PackageResources.diagram_js),
    "/dom.js": (script, PackageResources.dom_js),
    "/editor.js": (script, PackageResources.editor_js),
    "/edits.css": (css, PackageResources.edits_css),
    "/edits.js": (script, PackageResources.edits_js),
    "/filter.js": (script, PackageResources.filter_js),
    "/format.js": (script, PackageResources.format_js),
    "/grid.js": (script, PackageResources.grid_js),
    "/index.html": (html, PackageResources.index_html),
    "/keys.js": (script, PackageResources.keys_js),
    "/layout.js": (script, PackageResources.layout_js),
    "/live.js": (script, PackageResources.live_js),
    "/main.js": (script, PackageResources.main_js),
    "/mark.js": (script, PackageResources.mark_js),
    "/object.js": (script, PackageResources.object_js),
    "/overview.js": (script, PackageResources.overview_js),
    "/pager.js": (script, PackageResources.pager_js),
    "/panel.js": (script, PackageResources.panel_js),
    "/property.js": (script, PackageResources.property_js),
    "/reread.js": (script, PackageResources.reread_js),
    "/row.js": (script, PackageResources.row_js),
    "/schema.js": (script, PackageResources.schema_js),
    "/sidebar.js": (script, PackageResources.sidebar_js),
    "/space.js": (script, PackageResources.space_js),
    "/status.js": (script, PackageResources.status_js),
    "/store.js": (script, PackageResources.store_js),
    "/style.css": (css, PackageResources.style_css),
    "/table.css": (css, PackageResources.table_css),
    "/table.js": (script, PackageResources.table_js),
    "/value.js": (script, PackageResources.value_js),
    "/views.css": (css, PackageResources.views_css),
  ]
}
