import Foundation
import RealmSwift
import Testing

// A music library: albums in sections by artist, rows as projections, playlists that share tracks.

class MediaTrack: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var title = ""
  @Persisted var number = 0
  @Persisted var seconds: Float = 0
  @Persisted var rating: Int?
  @Persisted var genres = MutableSet<String>()
  @Persisted(originProperty: "tracks") var albums: LinkingObjects<MediaAlbum>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class MediaAlbum: Object {
  @Persisted(primaryKey: true) var title = ""
  @Persisted var artist: MediaArtist?
  @Persisted var year: Int16 = 0
  @Persisted var cover: Data?
  @Persisted var tracks: List<MediaTrack>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class MediaArtist: Object {
  @Persisted(primaryKey: true) var name = ""
  @Persisted(originProperty: "artist") var albums: LinkingObjects<MediaAlbum>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class MediaPlaylist: Object {
  @Persisted var name = ""
  @Persisted var entries: List<MediaTrack>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

final class AlbumRow: Projection<MediaAlbum> {
  @Projected(\MediaAlbum.title) var title
  @Projected(\MediaAlbum.artist?.name) var artist
  @Projected(\MediaAlbum.tracks.projectTo.title) var tracks: ProjectedCollection<String>
}

@Suite struct MediaLibraryProgram {
  private let realm: Realm

  init() throws {
    realm = try Realm(
      configuration: Realm.Configuration(
        inMemoryIdentifier: "media",
        objectTypes: [MediaTrack.self, MediaAlbum.self, MediaArtist.self, MediaPlaylist.self]))
  }

  private func fill() throws {
    let json = """
      [{"title": "Blue", "year": 1971, "artist": {"name": "Joni"},
        "tracks": [{"id": 1, "title": "All I Want", "number": 1, "seconds": 214.5, "genres": ["folk"]},
                   {"id": 2, "title": "Carey", "number": 2, "seconds": 182, "genres": ["folk", "pop"]}]},
       {"title": "Court and Spark", "year": 1974, "artist": {"name": "Joni"},
        "tracks": [{"id": 3, "title": "Help Me", "number": 1, "seconds": 202, "rating": 5, "genres": ["pop", "jazz"]}]},
       {"title": "Kind of Blue", "year": 1959, "artist": {"name": "Miles"},
        "tracks": [{"id": 4, "title": "So What", "number": 1, "seconds": 562, "rating": 5, "genres": ["jazz"]},
                   {"id": 5, "title": "Blue in Green", "number": 3, "seconds": 337, "genres": ["jazz"]}]}]
      """
    let albums = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [Any] ?? []
    try realm.write {
      realm.deleteAll()
      for album in albums { realm.create(MediaAlbum.self, value: album, update: .modified) }
    }
  }

  @Test func `albums, tracks and playlists hang together`() throws {
    try fill()
    #expect(realm.objects(MediaArtist.self).count == 2 && realm.objects(MediaTrack.self).count == 5)
    let sections = realm.objects(MediaAlbum.self)
      .sectioned(sortDescriptors: [
        SortDescriptor(keyPath: "artist.name"), SortDescriptor(keyPath: "year", ascending: false),
      ]) {
        $0.artist?.name ?? "?"
      }
    #expect(sections.allKeys == ["Joni", "Miles"])
    #expect(sections[0].map(\.title) == ["Court and Spark", "Blue"])
    let rows = realm.objects(AlbumRow.self).sorted(byKeyPath: "title")
    #expect(rows.map(\.title) == ["Blue", "Court and Spark", "Kind of Blue"])
    #expect(
      rows.first?.artist == "Joni"
        && rows.first.map { Array($0.tracks) } == ["All I Want", "Carey"])
    let jazz = realm.objects(MediaTrack.self).where { $0.genres.contains("jazz") }
    #expect(jazz.sum(of: \.seconds) == 1101 && jazz.average(of: \.seconds) == 367)
    #expect(jazz.where { $0.rating == nil }.first?.title == "Blue in Green")
    #expect(jazz.where { $0.albums.artist.name == "Joni" }.map(\.title) == ["Help Me"])
    let playlist = MediaPlaylist(value: ["name": "Evening"])
    try realm.write {
      realm.add(playlist)
      playlist.entries.append(objectsIn: jazz.sorted(byKeyPath: "seconds"))
      playlist.entries.append(objectsIn: jazz.sorted(byKeyPath: "title"))
      playlist.entries.move(from: 0, to: 2)
    }
    #expect(playlist.entries.map(\.id) == [5, 4, 3, 5, 3, 4])
    #expect(playlist.entries.distinct(by: ["id"]).count == 3)
    let frozen = playlist.freeze()
    try realm.write {
      if let soWhat = realm.object(ofType: MediaTrack.self, forPrimaryKey: 4) {
        realm.delete(soWhat)
      }
    }
    #expect(playlist.entries.map(\.id) == [5, 3, 5, 3] && frozen.entries.count == 6)
    #expect(frozen.entries[1].title == "So What")
    let longest = realm.objects(MediaArtist.self).filter(
      "SUBQUERY(albums, $a, $a.tracks.@count > 1).@count > 0")
    #expect(longest.map(\.name) == ["Joni"])
    #expect(
      realm.objects(MediaAlbum.self).filter("tracks.@sum.seconds > 390").map(\.title) == ["Blue"])
  }
}
